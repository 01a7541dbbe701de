// A pool of undici that sends what was signed beforehand, 32 requests at a time. Prints how many a second.
import { Pool } from 'undici';
import { UserInfoClient } from '../../../dist/index.js';

const [baseUrl, tenantCode, channel, appKey, appSecret, count] = process.argv.slice(2);
const client = new UserInfoClient({ baseUrl, tenantCode, channel, appKey, appSecret });
const requests = Array.from({ length: Number(count) }, (_, i) => {
  const userInfo = { acme_level: 'gold', mobile: String(13_800_000_000 + i), age: '28' };
  const { method, url, contentType, body } = client.signPassback({ unionId: `u${i}`, userInfo });
  return { method, path: url.pathname + url.search, headers: { 'content-type': contentType }, body };
});

const connections = 32;
const pool = new Pool(baseUrl, { connections, pipelining: 1 });
let next = 0;

async function sendOnAndOn() {
  for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
    const { statusCode, body } = await pool.request(request);
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${text}`);
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: connections }, sendOnAndOn));
const seconds = (performance.now() - startedAt) / 1000;
await pool.close();
process.stdout.write(`${requests.length / seconds}\n`);
