// A client that imports nothing of the product: it signs with node:crypto and sends with node:http. Its argument is a JSON
// object; on SIGTERM, or after `seconds`, it prints how long each passback took, in milliseconds, and the result codes.
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const { url, app, users, shape, connections, perSecond, seconds } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const md5 = (text) => createHash('md5').update(text).digest('hex');
const values = (count, value) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value])));
let serial = 0;

/** `user_info` of each kind of request. */
const shapes = {
  'one key': () => `{"x":"${serial}"}`,
  '1,000 values replaced': () => values(1000, `v${serial}`),
  'one key of 200 kB replaced': () => `{"long":"${serial}${'x'.repeat(200_000)}"}`,
  '1 MB of quotes': () => `{"y":"${'\\"'.repeat(170_000)}"}`,
  '1 MB of keys': () => values(40_000, null),
  '1 MB of spaces': () => `{"y":${' '.repeat(1_000_000)}1}`,
};

function send() {
  serial += 1;
  const form = { union_id: users[serial % users.length], user_info: shapes[shape]() };
  const timestamp = String(Math.floor(Date.now() / 1000));
  const { secret, ...named } = app;
  const query = { ...named, random: randomBytes(8).toString('hex'), timestamp };
  query.app_sign = md5(`app_key=${app.app_key}&random=${query.random}&timestamp=${timestamp}&key=${secret}`);
  const pairs = Object.entries({ ...query, ...form }).sort(([one], [other]) => (one < other ? -1 : 1));
  query.sign = md5(`${pairs.map(([name, value]) => `${name}=${value}`).join('&')}&key=${secret}`);
  const body = String(new URLSearchParams(form));
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
  const target = `${url}/api/v1/server/user/passback_user_info?${new URLSearchParams(query)}`;
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    const answered = (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        latencies.push(performance.now() - sentAt);
        const { code } = JSON.parse(text);
        codes[code] = (codes[code] ?? 0) + 1;
        resolve();
      });
    };
    request(target, { agent, method: 'PUT', headers }, answered).on('error', reject).end(body);
  });
}

const latencies = [];
const codes = {};
function end() {
  process.stdout.write(JSON.stringify({ latencies, codes }), () => process.exit());
}
process.on('SIGTERM', end);
if (perSecond === undefined) {
  const sendOnAndOn = async () => {
    for (;;) await send();
  };
  for (let connection = 0; connection < connections; connection += 1) sendOnAndOn();
} else {
  const sent = [];
  for (let count = 0; count < perSecond * seconds; count += 1) {
    sent.push(send());
    await wait(1000 / perSecond);
  }
  await Promise.all(sent);
  end();
}
