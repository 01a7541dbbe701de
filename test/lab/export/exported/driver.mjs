import { readFileSync } from 'node:fs';

const rules = await import(`${process.cwd()}/signature.mjs`);
const units = (done) => Buffer.from(done, 'utf16le').swap16().toString('hex');
const text = (field) => Buffer.from(field, 'hex').swap16().toString('utf16le');
const pairs = (field) =>
  field
    .split(',')
    .filter(Boolean)
    .map((pair) => pair.split('=').map(text));

for (const line of readFileSync(0, 'utf8').replace(/\n$/, '').split('\n')) {
  const [name, method, url, body, secret, params] = line.split(' ');
  const request = {
    method: text(method),
    url: text(url),
    params: pairs(params),
    body: body === '-' ? null : text(body),
  };
  try {
    const done = rules[name](request, text(secret));
    process.stdout.write(`${units(done)}\n`);
  } catch (error) {
    if (!/^the key is not | is missing/.test(error.message)) throw error;
    process.stdout.write(`!${units(error.message)}\n`);
  }
}
