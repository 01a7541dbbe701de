import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/core/signing/secret.js';
import { StartError } from '../../../src/service/database/errors.js';
import { postgresConfig } from '../../../src/service/database/postgres-config.js';
import { createService } from '../../../src/service/index.js';
import { openStore } from '../../../src/service/store/store.js';
import { createSchema, execute } from '../../support/postgres/test-schema.js';
import { type TestServer, tcpServer } from '../../support/raw-server.js';
import { temporaryFile } from '../../support/temporary-file.js';

const password = 'pa55-w0rd';
/** Databases that are set up otherwise. */
const databases = [['latin1', "ENCODING 'LATIN1'"], ['lost'], ['watched']];
let schemaUrl: string;
let server: URL;
let bouncer: TestServer;

beforeAll(async () => {
  const refusal = 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0';
  bouncer = await tcpServer((socket) =>
    socket.end(`E\0\0\0${String.fromCharCode(refusal.length + 4)}${refusal}`),
  );
  schemaUrl = (await createSchema()).url;
  server = new URL(schemaUrl);
  await execute(schemaUrl, `CREATE ROLE guarded LOGIN PASSWORD '${password}'`);
  for (const [name, settings = ''] of databases)
    await execute(
      schemaUrl,
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER libc ${settings}`,
    );
  await execute(schemaUrl, 'ALTER DATABASE lost SET search_path TO gone');
  await execute(
    at('userinfo', 'watched'),
    `CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'ask the DBA'; END $$;
     CREATE EVENT TRIGGER refuse ON ddl_command_start EXECUTE FUNCTION refuse()`,
  );
});
afterAll(async () => {
  await bouncer.close();
  await execute(schemaUrl, 'DROP OWNED BY guarded; DROP ROLE guarded');
  for (const [name] of databases) await execute(schemaUrl, `DROP DATABASE ${name}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const at = (user: string, database = 'postgres', port = server.port) =>
  `postgres://${user}@127.0.0.1:${port}/${database}`;

const openSockets = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

describe('a PostgreSQL database that cannot be opened', () => {
  it('says which version it needs where the server is older', async () => {
    const { url, remove } = await createSchema();
    // The function of PostgreSQL, which this schema has of its own.
    await execute(
      url,
      `CREATE FUNCTION current_setting(name TEXT) RETURNS TEXT LANGUAGE SQL
         AS $$ SELECT CASE name WHEN 'server_version_num' THEN '140022' ELSE pg_catalog.current_setting(name) END $$`,
    );
    await expect(openStore(`${url},pg_catalog`)).rejects.toMatchObject({
      code: 'CANNOT_OPEN_DATABASE',
      message: 'the database is PostgreSQL 14',
      hint: 'Use PostgreSQL 15 or later.',
    });
    await remove();
  });

  it.each<[string, () => string, string]>([
    ['nothing listens', () => at(`userinfo:${password}`, 'x', '1'), 'nothing is listening there'],
    [
      'the host is unknown',
      () => `postgres://u:${password}@host.invalid/x`,
      'the host name cannot be resolved',
    ],
    ['it does not exist', () => at(`userinfo:${password}`, 'nowhere'), 'there is no such database'],
    ['the password is wrong', () => at(`guarded:${password}x`), 'refuses the password'],
    ['the user is unknown', () => at(`nobody:${password}`), 'refuses the password'],
    ['a password is wanted', () => at('guarded'), 'the database requires a password'],
    ['its user may not make tables', () => at(`guarded:${password}`), 'may not do this'],
    ['it has another encoding', () => at(`userinfo:${password}`, 'latin1'), 'the encoding LATIN1'],
    ['no schema is its own', () => at('userinfo', 'lost'), '"no schema has been selected'],
    ['a trigger refuses tables', () => at('userinfo', 'watched'), '"ask the DBA"'],
    [
      'it does not speak TLS',
      () => `${at(`userinfo:${password}`)}?sslmode=verify-full`,
      'does not speak TLS',
    ],
    [
      'a certificate is missing',
      () => `${at(`u:${password}`)}?sslrootcert=/no/ca`,
      'cannot be read: ENOENT',
    ],
    [
      'a password is not escaped',
      () => `postgres://u:1/${password}@host/x`,
      'URL of the database is invalid',
    ],
    [
      'the port is none',
      () => `postgres://u:${password}@host:port/x`,
      'URL of the database is invalid',
    ],
    [
      'the port of a second host is none',
      () => `postgres://u:${password}@host,b:port/x`,
      'is invalid',
    ],
    [
      'nothing listens at an IPv6 address',
      () => `postgres://u:${password}@[::1]:1/x`,
      'cannot open the database postgres://u@[::1]:1/x: ',
    ],
    [
      'PgBouncer is before it',
      () => at(`u:${password}`, 'x', new URL(bouncer.url).port),
      'PgBouncer refuses the settings of a session',
    ],
    ...[
      ['target_session_attrs=fast', 'any or read-write'],
      ['statement_timeout=5s', 'a number of milliseconds'],
      ['pgbouncer=1', 'true or false'],
      ['connect_timeout=2s', 'a number of seconds'],
      ['sslmode=disabled', 'verify-full, or disable'],
    ].map(([option = '', values]): [string, () => string, string] => [
      `it is given ${option}`,
      () => `${at(`u:${password}`)}?${option}`,
      `is invalid: ${option.replace(/=.*/, '')} can be ${values}`,
    ]),
  ])('because %s is refused with the reason, without the password', async (_, url, reason) => {
    const before = openSockets();
    const opening = openStore(url());
    await expect(opening).rejects.toThrow(StartError);
    await expect(opening).rejects.toThrow(reason);
    const error = (await opening.catch((thrown: unknown) => thrown)) as StartError;
    expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain(password);
    // One that is left open keeps a program from its end.
    await expect.poll(openSockets).toBeLessThanOrEqual(before);
  });

  it('because a master key is invalid leaves no connection', async () => {
    const before = openSockets();
    const { url } = await createSchema();
    const opening = openStore(url, { masterKeys: [new Secret('short')] });
    await expect(opening).rejects.toThrow('a master key is not 32 bytes');
    await expect.poll(openSockets).toBeLessThanOrEqual(before);
  });

  it.each(['users', 'notes'])(
    'that contains a table %s is refused with the reason',
    async (table) => {
      const { url } = await createSchema();
      await execute(url, `CREATE TABLE ${table} (name TEXT)`);
      await expect(openStore(url)).rejects.toThrow(
        'the database holds the tables of another application',
      );
    },
  );
});

it('a role without the right to change tables uses those that are there', async () => {
  const { url } = await createSchema();
  // A scheme is read in any letter case.
  await (await openStore(url.replace(/^postgres(ql)?/, 'POSTGRES'))).close();
  const name = /search_path%3D(\w+)/.exec(url)?.[1];
  await execute(
    url,
    `GRANT USAGE ON SCHEMA ${name} TO guarded; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO guarded`,
  );
  const service = await createService({
    database: url.replace('//userinfo@', `//guarded:${password}@`),
    port: 0,
  });
  await service.admin.putUsers(['{"tenant_code":"acme","union_id":"u1"}']);
  await service.admin.deleteUser({ tenantCode: 'acme', unionId: 'u1' });
  await service.close();
});

it('waits for a connection as long as the URL says, 3 s by default', () => {
  const timeout = (url: string) => postgresConfig(url).connectionTimeoutMillis;
  expect(timeout('postgres://me@localhost/x')).toBe(3000);
  expect(timeout('postgres://me@localhost/x?connect_timeout=12')).toBe(12_000);
});

describe('the password', () => {
  const withSchema = async () => {
    const { url } = await createSchema();
    const name = /search_path%3D(\w+)/.exec(url)?.[1];
    await execute(url, `GRANT ALL ON SCHEMA ${name} TO guarded`);
    return url.replace('//userinfo@', '//guarded@');
  };

  it('can be in the URL', async () => {
    const url = await withSchema();
    await (await openStore(url.replace('guarded@', `guarded:${password}@`))).close();
  });

  it('can be in PGPASSWORD', async () => {
    vi.stubEnv('PGPASSWORD', password);
    await (await openStore(await withSchema())).close();
  });

  it('can be in a password file, without a warning', async () => {
    const file = await temporaryFile('pgpass');
    await writeFile(file, `127.0.0.1:${server.port}:*:guarded:${password}\n`, { mode: 0o600 });
    vi.stubEnv('PGPASSFILE', file);
    const warnings: Error[] = [];
    process.on('warning', (warning) => warnings.push(warning));
    await (await openStore(await withSchema())).close();
    expect(warnings).toEqual([]);
  });
});

describe('TLS', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['postgres://me@db.example/x', true],
    ['postgres://me@10.1.2.3/x', true],
    ['postgres://me@127.0.0.1,db.example/x', true],
    ['postgres://me@127.0.0.1/x', undefined],
    ['postgres://me@localhost/x', undefined],
    ['postgres://me@[::1]/x', undefined],
    ['postgres://me@%2Fvar%2Frun%2Fpostgresql/x', undefined],
    ['postgres://me@db.example/x?sslmode=disable', false],
  ])('with a verified certificate is the default to another machine: %s', (url, ssl) => {
    expect(postgresConfig(url).ssl).toBe(ssl);
  });

  it('is what PGSSLMODE says, where it is set', () => {
    vi.stubEnv('PGSSLMODE', 'disable');
    expect(postgresConfig('postgres://me@db.example/x').ssl).toBeUndefined();
    vi.stubEnv('PGSSLMODE', 'verify_full');
    expect(() => postgresConfig('postgres://me@db.example/x')).toThrow(
      'PGSSLMODE can be verify-full',
    );
  });

  it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    'verifies without a warning for %s',
    (mode) => {
      const warn = vi.spyOn(process, 'emitWarning');
      const { ssl } = postgresConfig(`postgres://me@db.example/x?sslmode=${mode}`);
      expect([ssl, warn.mock.calls]).toEqual([{}, []]);
      warn.mockRestore();
    },
  );
});
