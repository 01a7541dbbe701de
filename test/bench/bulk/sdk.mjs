// The SDK's `passbackAll` over rows from memory. Prints how many a second.
import { passbackAll } from '../../../dist/index.js';

const [baseUrl, tenantCode, channel, appKey, appSecret, count] = process.argv.slice(2);

function* rows() {
  for (let i = 0; i < Number(count); i += 1) {
    yield {
      unionId: `u${i}`,
      userInfo: { acme_level: 'gold', mobile: String(13_800_000_000 + i), age: '28' },
    };
  }
}

const startedAt = performance.now();
let done = 0;
for await (const { outcome } of passbackAll(rows(), { baseUrl, tenantCode, channel, appKey, appSecret })) {
  if (outcome !== 'ok') throw new Error(outcome);
  done += 1;
}
process.stdout.write(`${(done / (performance.now() - startedAt)) * 1000}\n`);
