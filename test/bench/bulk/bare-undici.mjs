// What a run is measured against: one thread and undici's Pool with 32 connections. Each request is
// built, signed with the default recipes and sent when its row comes, by undici's cheapest call;
// the answer's code is checked. Nothing is checked beforehand, written down or tried again. Rows
// come from a CSV file, cut at commas, or are made on the fly where their number is given.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Pool } from 'undici';
import { madeRows } from './made-rows.mjs';

const [baseUrl, tenantCode, channel, appKey, appSecret, source] = process.argv.slice(2);
const connections = 32;
const pool = new Pool(baseUrl, { connections });
const headers = { 'content-type': 'application/x-www-form-urlencoded' };
const rows = /^\d+$/.test(source) ? madeRows(Number(source)) : rowsOf(source);

async function* rowsOf(path) {
  let names;
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const cells = line.split(',');
      if (names === undefined) names = cells;
      else yield Object.fromEntries(names.map((name, index) => [name, cells[index]]));
    }
  }
}

function requestOf({ union_id, ...userInfo }) {
  const user_info = JSON.stringify(userInfo);
  const random = randomUUID().slice(0, 18);
  const timestamp = Math.floor(Date.now() / 1000);
  const app_sign = md5(
    `app_key=${appKey}&random=${random}&timestamp=${timestamp}&key=${appSecret}`,
  );
  const query = { tenant_code: tenantCode, app_key: appKey, app_sign, channel, random, timestamp };
  const signed = { ...query, union_id, user_info };
  const pairs = Object.keys(signed)
    .sort()
    .map((name) => `${name}=${signed[name]}`);
  const sign = md5(`${pairs.join('&')}&key=${appSecret}`);
  const path = `/api/v1/server/user/passback_user_info?${encode({ ...query, sign })}`;
  return { method: 'PUT', path, headers, body: encode({ union_id, user_info }) };
}

function md5(text) {
  return createHash('md5').update(text).digest('hex');
}

function encode(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

function send(request) {
  return new Promise((resolve, reject) => {
    let text = '';
    pool.dispatch(request, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData(_, chunk) {
        text += chunk;
      },
      onResponseEnd() {
        if (JSON.parse(text).code === 200) resolve();
        else reject(new Error(text));
      },
      onResponseError: (_, error) => reject(error),
    });
  });
}

async function sendOnAndOn() {
  for (let next = await rows.next(); !next.done; next = await rows.next())
    await send(requestOf(next.value));
}

await Promise.all(Array.from({ length: connections }, sendOnAndOn));
await pool.close();
