// Single calls, so many at a time. Prints the heap in use after each tenth of them, in bytes.
import { UserInfoClient } from '../../../dist/index.js';

const [baseUrl, count, atOnce] = process.argv.slice(2);
const client = new UserInfoClient({
  baseUrl,
  tenantCode: 't',
  channel: 'c',
  appKey: 'k',
  appSecret: 's',
});
const { signal } = new AbortController();
const input = { unionId: 'u1', userInfo: { acme_level: 'gold' } };
const heap = [];

for (let tenth = 0; tenth < 10; tenth += 1) {
  let left = count / 10;
  const callOneByOne = async () => {
    while (left-- > 0) await client.passback(input, { signal });
  };
  await Promise.all(Array.from({ length: Number(atOnce) }, callOneByOne));
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
  heap.push(process.memoryUsage().heapUsed);
}
await client.close();
process.stdout.write(JSON.stringify(heap));
