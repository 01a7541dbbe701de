// The least that a server in Node does for the same requests, without the product: parses, digests,
// runs the statements on ten connections, answers. It keeps no rule of the contract. Prints its
// URL.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
const digest = (signed) => createHash('md5').update(signed).digest('hex');
const nonce =
  'INSERT INTO nonces (tenant_code, app_key, random, expires_at) VALUES ($1, $2, $3, 9999999999) RETURNING 1';
const read = `WITH fresh AS (${nonce}), used AS (UPDATE codes SET uses_left = uses_left - 1
  WHERE tenant_code = $1 AND code = $4 AND uses_left > 0 AND EXISTS (SELECT 1 FROM fresh) RETURNING union_id)
  SELECT record FROM users WHERE tenant_code = $1 AND union_id = (SELECT union_id FROM used)`;
const lock = 'SELECT record FROM users WHERE tenant_code = $1 AND union_id = $2 FOR UPDATE';
const update = 'UPDATE users SET record = $3 WHERE tenant_code = $1 AND union_id = $2';

async function passBack([tenant, ...random], form) {
  const user = [tenant, form.get('union_id')];
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query({ name: 'nonce', text: nonce, values: [tenant, ...random] });
    const { rows } = await client.query({ name: 'lock', text: lock, values: user });
    const record = JSON.parse(rows[0].record);
    Object.assign(record.extension_info, JSON.parse(form.get('user_info')));
    await client.query({ name: 'update', text: update, values: [...user, JSON.stringify(record)] });
    await client.query('COMMIT');
    return {};
  } finally {
    client.release();
  }
}

const server = createServer(async (request, response) => {
  const body = await text(request);
  const { searchParams } = new URL(request.url, 'http://127.0.0.1');
  const [tenant, key, random, code, time] = [
    'tenant_code',
    'app_key',
    'random',
    'code',
    'timestamp',
  ].map((name) => searchParams.get(name));
  digest(`${key}${random}${time}`);
  digest(`${request.url}${body}`);
  const used = [tenant, key, random];
  const data =
    request.method === 'PUT'
      ? await passBack(used, new URLSearchParams(body))
      : JSON.parse(
          (await pool.query({ name: 'read', text: read, values: [...used, code] })).rows[0].record,
        );
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ code: 200, msg: 'ok', data }));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
