import { readFileSync } from 'node:fs';

const text = (field) => Buffer.from(field, 'hex').swap16().toString('utf16le');
const pairs = (field) =>
  field
    .split(',')
    .filter(Boolean)
    .map((pair) => pair.split('=').map(text));

for (const line of readFileSync(0, 'utf8').replace(/\n$/, '').split('\n')) {
  const [module, method, url, body, secret, params, extra] = line.split(' ');
  const { sign } = await import(`${process.cwd()}/${module}/signature.mjs`);
  const given = [text(method), text(url), pairs(params), body === '-' ? null : text(body)];
  try {
    const done = sign(...given, Object.fromEntries(pairs(extra)), text(secret));
    process.stdout.write(`${Buffer.from(done, 'utf16le').swap16().toString('hex')}\n`);
  } catch (error) {
    if (!error.message.startsWith('the key is not ')) throw error;
    process.stdout.write(`! ${error.message}\n`);
  }
}
