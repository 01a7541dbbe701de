import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpProxy } from '../../support/http-proxy.js';
import { type TestServer, tcpServer } from '../../support/raw-server.js';
import { ServedMachine } from '../../support/served.js';
import { ca, caFile, certificates, tlsServer } from '../../support/tls-server.js';

let machine: ServedMachine;
let secure: TestServer;
const write = '-p local passback a=x --union-id u001 --environment test --json'.split(' ');

beforeAll(async () => {
  machine = await ServedMachine.create();
  secure = await tlsServer('good', machine.url);
});

afterAll(async () => {
  await secure.close();
  await machine[Symbol.asyncDispose]();
});

const profile = (name: string) =>
  JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles[name];

describe('an unknown certificate authority', () => {
  it('is refused, and trusted if named by a flag, a variable, the profile, or NODE_EXTRA_CA_CERTS', async () => {
    const there = [...write, '--base-url', secure.url];
    const refused = await machine.run(there);
    expect(refused).toMatchObject({ status: 5, stdout: '' });
    expect(refused.stderr).toContain(`no secure connection to ${new URL(secure.url).host}`);
    expect(refused.stderr).toContain('pass the certificate of that authority with --ca-file');
    expect((await machine.run([...there, '--ca-file', caFile])).status).toBe(0);
    expect((await machine.run(there, { env: { USERINFO_CA_FILE: caFile } })).status).toBe(0);
    // Node reads it when a process starts.
    const both = { env: { NODE_EXTRA_CA_CERTS: caFile }, under: ['env'] };
    expect((await machine.run(there, both)).status).toBe(0);
    const other = join(caFile, '..', 'self-signed.crt');
    expect((await machine.run([...there, '--ca-file', other], both)).status).toBe(0);
    expect((await machine.run([...there, '--ca-file', other])).status).toBe(5);

    writeFileSync(join(machine.folder, 'ca.pem'), readFileSync(caFile));
    await machine.run(['profile', 'set', 'local', '--ca-file', 'ca.pem']);
    expect(profile('local').ca_file).toBe(join(machine.folder, 'ca.pem'));
    expect((await machine.run(there)).status).toBe(0);
    expect((await machine.run(['profile', 'show', 'local'])).stdout).toMatch(
      /│ CA file +│ .*ca\.pem/,
    );
    await machine.run(['profile', 'set', 'local', '--ca-file', '']);
    expect(profile('local')).not.toHaveProperty('ca_file');
  });

  it.each([
    ['/no/such/file', 'cannot be read: no such file or folder'],
    ['/', 'cannot be read: it is a folder'],
    [join(import.meta.dirname, 'network.test.ts'), 'holds no certificate'],
  ])('in the file %s is bad input', async (file, fault) => {
    const done = await machine.run([...write, '--base-url', secure.url, '--ca-file', file]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(JSON.parse(done.stderr).error.message).toBe(
      `the CA file "${file}" (--ca-file) ${fault}`,
    );
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0 does not disable certificate checks', () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  let forged: TestServer;

  beforeAll(async () => {
    forged = await tlsServer('self-signed', machine.url);
    writeFileSync(join(machine.folder, 'users.csv'), 'union_id,a\nu001,x\n');
  });

  afterAll(() => forged.close());

  it.each([
    ['a passback', write],
    ['doctor', ['-p', 'local', 'doctor']],
  ])('for %s', async (_, command) => {
    const done = await machine.run([...command, '--base-url', forged.url], { env });
    expect(done.status).toBe(5);
    expect(done.stdout + done.stderr).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  });

  it.each([
    ['a passback', write],
    ['doctor', ['-p', 'local', 'doctor']],
  ])('of an https proxy, for %s', async (_, command) => {
    const proxy = await httpProxy(secure.url);
    const forgedProxy = await tlsServer('self-signed', proxy.url);
    const there = ['--base-url', 'https://service.example', '--ca-file', caFile];
    const done = await machine.run([...command, ...there], {
      env: { ...env, HTTPS_PROXY: forgedProxy.url },
    });
    await forgedProxy.close();
    await proxy.close();
    expect(done.status).toBe(5);
    expect(done.stdout + done.stderr).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(proxy.asked).toEqual([]);
  });
});

describe('plain http to another machine', () => {
  it('is refused with status 2, and allowed by --allow-http', async () => {
    const there = [...write, '--base-url', 'http://service.invalid'];
    const refused = await machine.run(there);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /the base URL \(--base-url\) is plain http: .* unencrypted to service\.invalid",.*"hint":".*--allow-http/,
    );
    expect((await machine.run([...there, '--allow-http', '--attempts', '1'])).status).toBe(5);
  });

  it('is allowed by a profile for its own base URL alone', async () => {
    const add = [
      'profile',
      'add',
      'inner',
      '--base-url',
      'http://service.invalid',
      '--tenant-code',
      't',
    ];
    const rest = ['--channel', 'c', '--app-key', 'k', '--app-secret-env', 'SECRET'];
    expect((await machine.run([...add, ...rest])).status).toBe(2);
    expect((await machine.run([...add, ...rest, '--allow-http'])).status).toBe(0);
    const read = ['-p', 'inner', 'read', 'c', '--attempts', '1'];
    const env = { SECRET: 's' };
    expect((await machine.run(read, { env })).status).toBe(5);
    expect(
      (await machine.run([...read, '--base-url', 'http://other.invalid'], { env })).status,
    ).toBe(2);
    expect(
      (await machine.run(['profile', 'set', 'inner', '--base-url', 'http://third.invalid'])).status,
    ).toBe(2);
    await machine.run(['profile', 'set', 'inner', '--base-url', 'https://third.invalid']);
    expect(profile('inner')).not.toHaveProperty('allow_http');
  });
});

describe('a proxy', () => {
  it.each([
    [
      'http://u:never-to-be-seen%zz@127.0.0.1:1',
      'has a user name or password that is not percent-encoded',
    ],
    ['http://u:never-to-be-seen@:1', 'is not the address of an http proxy'],
    ['u:p@never-to-be-seen?x@127.0.0.1:1', 'is not the address of an http proxy'],
  ])(
    'that is invalid is refused with status 2, without its password: %s',
    async (HTTPS_PROXY, said) => {
      const done = await machine.run([...write, '--base-url', 'https://service.invalid'], {
        env: { HTTPS_PROXY },
      });
      expect(done).toMatchObject({ status: 2, stdout: '' });
      expect(JSON.parse(done.stderr).error.message).toContain(`HTTPS_PROXY ${said}`);
      expect(done.stderr).not.toContain('never-to-be-seen');
    },
  );

  it('comes from HTTPS_PROXY, unless NO_PROXY names the host', async () => {
    const proxy = await httpProxy(secure.url);
    const there = [
      ...write,
      '--base-url',
      'https://service.example',
      '--ca-file',
      caFile,
      '--attempts',
      '1',
    ];
    expect((await machine.run(there, { env: { HTTPS_PROXY: proxy.url } })).status).toBe(0);
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
    const without = { HTTPS_PROXY: proxy.url, NO_PROXY: '.example' };
    expect((await machine.run(there, { env: without })).stderr).toContain(
      'cannot resolve the host name of service.example',
    );
    expect((await machine.run(write, { env: { HTTP_PROXY: proxy.url } })).status).toBe(0);
    await proxy.close();
    expect(proxy.asked).toHaveLength(1);
    const gone = await machine.run(there, {
      env: { HTTPS_PROXY: proxy.url.replace('//', '//me:s3cret@') },
    });
    expect(gone.stderr).toContain('through the proxy 127.0.0.1:');
    expect(gone.status).toBe(5);
    expect(gone.stderr).toContain('HTTPS_PROXY, HTTP_PROXY and NO_PROXY');
    expect(gone.stderr).not.toContain('s3cret');
  });

  it('comes from --proxy, USERINFO_PROXY or the profile before HTTPS_PROXY, whatever NO_PROXY says', async () => {
    const proxy = await httpProxy(secure.url);
    const { host } = new URL(proxy.url);
    const there = ['--base-url', 'https://service.example', '--ca-file', caFile, '--attempts', '1'];
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '*' };
    expect((await machine.run([...write, ...there, '--proxy', proxy.url], { env })).status).toBe(0);
    const byVariable = { ...env, USERINFO_PROXY: proxy.url.replace('//', '//me:s3cret@') };
    expect((await machine.run([...write, ...there], { env: byVariable })).status).toBe(0);
    const added = await machine.run(['profile', 'set', 'local', '--proxy', host]);
    expect(added).toMatchObject({ status: 0 });
    expect((await machine.run([...write, ...there], { env })).status).toBe(0);
    expect((await machine.run(['profile', 'show', 'local'])).stdout).toMatch(
      new RegExp(`proxy +│ ${host} +│ profile "local"`),
    );
    const doctor = await machine.run(['doctor', '-p', 'local', ...there.slice(0, 4)], { env });
    expect(doctor.stdout).toContain(`proxy         ${host} (profile "local")`);
    const curl = await machine.run([...write.slice(0, -1), ...there, '--print-curl'], { env });
    expect(curl.stdout).toContain(`  --proxy ${host} \\\n`);
    expect((await machine.run(['profile', 'set', 'local', '--proxy', ''])).status).toBe(0);
    expect((await machine.run([...write, ...there], { env })).stderr).toContain('cannot resolve');
    await proxy.close();
    expect(proxy.asked).toEqual(Array(4).fill('CONNECT service.example:443'));
  });

  it.each([
    [
      'a password',
      ['--base-url', 'https://service.invalid'],
      'http://me:never-to-be-seen@127.0.0.1:1',
    ],
    ['nothing', ['--base-url', 'https://service.invalid'], ''],
    ['this machine as its destination', [], 'http://127.0.0.1:1'],
  ])('in an argument with %s is refused, and nothing is sent', async (_, to, proxy) => {
    const done = await machine.run([...write, ...to, '--proxy', proxy]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(JSON.parse(done.stderr).error.message).toContain('--proxy');
    expect(done.stderr).not.toContain('never-to-be-seen');
    if (!proxy.includes('@')) return;
    const set = await machine.run(['profile', 'set', 'local', '--proxy', proxy]);
    expect(set).toMatchObject({ status: 2, stdout: '' });
    expect(set.stderr).toContain('USERINFO_PROXY');
  });
});

it('a connection that is never established ends at --timeout', async () => {
  const silent = await tcpServer(() => {});
  const url = silent.url.replace('http:', 'https:').replace('127.0.0.1', 'app.localhost');
  const done = await machine.run([...write, '--base-url', url, '--timeout', '300ms']);
  await silent.close();
  expect(done.stderr).toContain('The request was not sent');
  expect(done.status).toBe(5);
  expect(done.stderr).toContain('within 300 ms');
});

describe('a gateway that asks for a client certificate', () => {
  it('gets that of flags, variables or the profile; curl, too', async () => {
    const gateway = await tlsServer('good', machine.url, { requestCert: true, ca });
    const [cert, key] = [join(certificates, 'good.crt'), join(certificates, 'server.key')];
    const there = [...write, '--base-url', gateway.url, '--ca-file', caFile];
    try {
      const refused = await machine.run([...there, '--attempts', '1']);
      expect(refused.stderr).toContain('--client-cert');
      expect(
        (await machine.run([...there, '--client-cert', cert, '--client-key', key])).status,
      ).toBe(0);
      const env = { USERINFO_CLIENT_CERT: cert, USERINFO_CLIENT_KEY: key };
      expect(await machine.run(there, { env })).toMatchObject({ status: 0 });
      const half = await machine.run([...there, '--client-cert', cert]);
      expect(half.stderr).toContain('the client key is missing: a client certificate needs both');
      const curl = await machine.run([...there, '--print-curl'], { env });
      expect(curl.stdout).toMatch(/--cert \S+good\.crt.*--key \S+server\.key/s);
    } finally {
      await gateway.close();
    }
  });
});
