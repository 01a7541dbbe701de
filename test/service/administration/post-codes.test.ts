import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Secret } from '../../../src/core/signing/secret.js';
import { createService, type LogEvent, type Service } from '../../../src/service/index.js';
import { freshDatabase } from '../../support/fresh-database.js';
import { all, tenant, user } from '../../support/running-service.js';
import { temporaryFile } from '../../support/temporary-file.js';

const token = 'a token of an operator';
const older = 'the token before that one';
let service: Service;
let url: string;
let logged: LogEvent[];

async function start(adminTokens: readonly Secret[] = [], host = '127.0.0.1', file?: string) {
  logged = [];
  service = await createService({
    database: file ?? (await freshDatabase()),
    host,
    adminPort: 0,
    adminTokens,
    log: (event) => void logged.push(event),
  });
  await service.admin.putUsers([user('u1'), user('u2')]);
  url = `${logged.find((event) => event.event === 'monitoring')?.url}/codes`;
}

beforeEach(() => start([new Secret(token), new Secret(older)]));
afterEach(() => service.close());

const authorization = `Bearer ${token}`;

async function post(body: unknown, headers: Record<string, string> = { authorization }) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(url, { method: 'POST', headers, body: text });
  const read = (await answer.json()) as { codes: { code: string }[]; error: { message: string } };
  return { status: answer.status, answer, body: read };
}

const wanted = { tenant_code: tenant, union_ids: ['u1'] };

it('POST /codes issues codes with the options of the request', async () => {
  const { status, body } = await post({
    ...wanted,
    union_ids: ['u1', 'nobody', 'u2'],
    info_names: ['mobile'],
    ttl_seconds: 60,
    uses: 'unlimited',
  });
  const code = {
    code: expect.stringMatching(/^[0-9a-f]{32}$/),
    info_names: ['mobile'],
    uses_left: null,
  };
  expect([status, body.codes]).toEqual([
    200,
    [
      expect.objectContaining({ ...code, union_id: 'u1' }),
      null,
      expect.objectContaining({ union_id: 'u2' }),
    ],
  ]);
  const listed = [];
  for await (const one of service.admin.listCodes({ tenantCode: tenant })) listed.push(one.code);
  expect(listed.sort()).toEqual(body.codes.flatMap((one) => one?.code ?? []).sort());
  expect((await post(wanted, { authorization: `bearer  ${older}` })).status).toBe(200);
  await service.admin.issueCodes({ tenantCode: tenant, unionIds: ['u1'] });
  const lines = await all(service.admin.listAudit({ action: 'code issue' }));
  expect(lines.map(({ actor, subject }) => [actor, subject]).sort()).toEqual([
    ['POST /codes', '3 codes'],
    ['the service', '1 code'],
  ]);
});

it.each([
  ['no token', {}],
  ['another token', { authorization: `${authorization}!` }],
  ['the token alone', { authorization: token }],
])('refuses a request with %s', async (_, headers) => {
  const { status, answer } = await post(wanted, headers);
  expect([status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  for await (const _ of service.admin.listCodes({ tenantCode: tenant }))
    expect.fail('a code was issued');
  expect(JSON.stringify(logged)).not.toContain(token);
});

it.each([
  ['not JSON', '{', 'the body is not JSON'],
  [
    'a key twice',
    `${' '.repeat(9_000)}${JSON.stringify(wanted).replace('{', '{"uses":2,"uses":1,')}`,
    'the body: duplicate key at line 1, column 9012',
  ],
  ['nothing', 'null', 'the body: null was given, not an object'],
  ['no tenant', { union_ids: ['u'] }, 'the body: tenant_code is missing'],
  ['an unknown field', { ...wanted, union_id: 'u1' }, 'the body: "union_id" is unknown'],
  ['no user', { ...wanted, union_ids: [] }, 'not a list of 1 to 500 texts'],
  ['too many', { ...wanted, union_ids: Array(501).fill('u1') }, 'not a list of 1 to 500 texts'],
  ['a number for an ID', { ...wanted, union_ids: [1] }, 'not a list of 1 to 500 texts'],
  ['an impossible ID', { ...wanted, union_ids: ['\0'] }, 'holds U+0000'],
  ['an invalid number of uses', { ...wanted, uses: 0.5 }, 'the number of uses is 0.5'],
  ['a ttl of text', { ...wanted, ttl_seconds: '60' }, 'ttl_seconds is text, not a number'],
  [
    'names that are no list',
    { ...wanted, info_names: 'mobile' },
    'info_names is text, not a list of texts',
  ],
])('refuses %s, and says why', async (_, body, message) => {
  const refused = await post(body);
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    expect.stringContaining(message),
  ]);
});

it('asks to try again while the database is away', async () => {
  await service.close();
  const database = await temporaryFile('users.db');
  await start([new Secret(token)], '127.0.0.1', database);
  expect((await post(wanted)).status).toBe(200);
  await rm(dirname(database), { recursive: true });
  expect((await post(wanted)).status).toBe(503);
});

it('refuses other methods and bodies without a length, or of more than 1 MiB before they are sent', async () => {
  expect((await fetch(url, { headers: { authorization } })).status).toBe(405);
  expect((await post('x'.repeat(1_048_577))).status).toBe(413);
  const chunked = request(url, {
    method: 'POST',
    headers: { authorization, 'transfer-encoding': 'chunked' },
  });
  const status = new Promise((resolve) =>
    chunked.on('response', (answer) => resolve(answer.resume().statusCode)),
  );
  chunked.end('{}');
  expect(await status).toBe(411);
});

it('is not there without a token, nor on the port of the service', async () => {
  const onService = await fetch(`${service.url}/codes`, {
    method: 'POST',
    headers: { authorization },
  });
  expect(onService.status).toBe(404);
  await service.close();
  await start();
  expect((await post(wanted)).status).toBe(404);
  for (const wrong of ['short', '令'.repeat(20), `${token}\n${token}`]) {
    await expect(
      createService({ adminPort: 0, adminTokens: [new Secret(token), new Secret(wrong)] }),
    ).rejects.toThrow('an admin token has fewer than 16 characters, or some that are not ASCII');
  }
});

it('warns where the token can come unencrypted from another machine', async () => {
  const warned = () => logged.filter(({ event }) => event === 'unencrypted_token');
  expect(warned()).toEqual([]);
  await service.close();
  await start(undefined, '0.0.0.0');
  expect(warned()).toEqual([]);
  await service.close();
  await start([new Secret(token)], '0.0.0.0');
  expect(warned()).toEqual([{ event: 'unencrypted_token', host: '0.0.0.0' }]);
});
