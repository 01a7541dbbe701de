// The SDK's `passbackAll` over rows that are made on the fly.
import { UserInfoClient } from '../../../dist/index.js';
import { madeRows } from './made-rows.mjs';

const [baseUrl, tenantCode, channel, appKey, appSecret, count] = process.argv.slice(2);

function* rows() {
  for (const { union_id: unionId, ...userInfo } of madeRows(Number(count)))
    yield { unionId, userInfo };
}

const client = new UserInfoClient({ baseUrl, tenantCode, channel, appKey, appSecret });
for await (const { outcome } of client.passbackAll(rows())) {
  if (outcome !== 'ok') throw new Error(outcome);
}
await client.close();
