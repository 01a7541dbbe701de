import { execFile } from 'node:child_process';
import { join } from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toNoAnswerError } from '../../../src/client/call/transport-errors.js';
import {
  InvalidInputError,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import { translatePostgresError } from '../../../src/service/database/postgres-errors.js';
import { httpProxy } from '../../support/http-proxy.js';
import { httpServer } from '../../support/raw-server.js';
import { type ServiceWithApp, serviceWithApp } from '../../support/service-with-app.js';
import { type CertificateName, ca, selfSigned, tlsServer } from '../../support/tls-server.js';

let service: ServiceWithApp['service'];
let credentials: ServiceWithApp['credentials'];

beforeAll(async () => {
  ({ service, credentials } = await serviceWithApp());
});

afterAll(() => service.close());

/** What a passback over a client of its own comes to: the result code, or the error. */
async function passback(baseUrl: string, options: Partial<UserInfoClientOptions> = {}) {
  await using client = new UserInfoClient({
    baseUrl,
    ...credentials,
    timeoutMs: 30_000,
    attempts: 2,
    ...options,
  });
  return client.passback({ unionId: 'u1', userInfo: { a: 'x' } }).then(
    ({ envelope }) => envelope.code,
    (error: unknown) => error,
  );
}

describe('a certificate', () => {
  it('of an unknown authority is refused, unless it is named', async () => {
    const server = await tlsServer('good', service.url);
    expect(await passback(server.url)).toMatchObject({ reason: 'tls', received: false });
    expect(await passback(server.url, { extraCa: ca })).toBe(200);
    await server.close();
  });

  it('of an authority that is named is trusted besides those of Node', async () => {
    const made = vi.spyOn(tls, 'createSecureContext');
    await using _ = new UserInfoClient({
      baseUrl: 'https://h.example',
      ...credentials,
      extraCa: ca,
    });
    const { ca: trusted = [] } = made.mock.calls[0]?.[0] ?? {};
    made.mockRestore();
    expect(tls.rootCertificates.length).toBeGreaterThan(50);
    for (const authority of [...tls.rootCertificates, ca.trim()])
      expect(trusted).toContain(authority);
  });

  it.skipIf(!('getCACertificates' in tls))(
    'of NODE_EXTRA_CA_CERTS is trusted where another is named (needs Node 22.15)',
    async () => {
      const server = await tlsServer('self-signed', service.url);
      const appSecret = credentials.appSecret.reveal();
      const options = { baseUrl: server.url, ...credentials, appSecret, extraCa: ca };
      const script = `import { UserInfoClient } from ${JSON.stringify(join(process.cwd(), 'dist/index.js'))};
        const client = new UserInfoClient(${JSON.stringify(options)});
        console.log((await client.passback({ unionId: 'u1', userInfo: { a: 'x' } })).envelope.code);
        await client.close();`;
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: selfSigned };
      const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        env,
      });
      expect((await run).stdout).toBe('200\n');
      await server.close();
    },
  );

  it.each<[CertificateName, string]>([
    ['expired', 'CERT_HAS_EXPIRED'],
    ['other-host', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('that is %s is refused, whatever authority is named', async (certificate, code) => {
    const server = await tlsServer(certificate, service.url);
    let attempts = 0;
    const error = await passback(server.url, {
      extraCa: ca,
      onRequest: () => {
        attempts += 1;
      },
    });
    await server.close();
    expect(error).toMatchObject({ code: 'NO_ANSWER', reason: 'tls', received: false });
    expect((error as Error).message).toBe(
      `no secure connection to ${new URL(server.url).host} (${code})`,
    );
    expect(attempts).toBe(1);
  });

  it.each(['INVALID_PURPOSE', 'PATH_LENGTH_EXCEEDED', 'HOSTNAME_MISMATCH', 'UNSPECIFIED'])(
    'that has the fault %s is not taken for a lost connection',
    (code) => {
      const fault = Object.assign(new Error('refused'), { code });
      const error = toNoAnswerError(fault, { host: 'h', proxy: null, started: false });
      expect(error).toMatchObject({
        reason: 'tls',
        message: `no secure connection to h (${code})`,
      });
      expect(translatePostgresError(fault)).toMatchObject({
        message: expect.stringContaining('certificate'),
      });
    },
  );

  it.each([
    ['', 'extraCa holds no certificate'],
    [
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      'extraCa holds a certificate that',
    ],
  ])('of an authority that is none is bad input: %j', async (extraCa, message) => {
    await expect(passback(service.url, { extraCa })).rejects.toThrow(InvalidInputError);
    await expect(passback(service.url, { extraCa })).rejects.toThrow(message);
  });
});

describe('a proxy', () => {
  it('is a tunnel for https that learns only the host', async () => {
    const server = await tlsServer('good', service.url);
    const proxy = await httpProxy(server.url);
    const answer = await passback('https://service.example', { proxy: proxy.url, extraCa: ca });
    await proxy.close();
    await server.close();
    expect(answer).toBe(200);
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
  });

  it('receives the whole URL with http, if that is allowed', async () => {
    const proxy = await httpProxy(service.url);
    const answer = await passback('http://service.example', { proxy: proxy.url, allowHttp: true });
    await proxy.close();
    expect(answer).toBe(200);
    expect(proxy.asked).toEqual([
      'PUT http://service.example/api/v1/server/user/passback_user_info',
    ]);
  });

  it('receives the credentials of its URL', async () => {
    const server = await tlsServer('good', service.url);
    const proxy = await httpProxy(server.url, { credentials: 'me:p@ss' });
    const address = (user: string) => proxy.url.replace('//', `//${user}@`);
    const options = { extraCa: ca };
    expect(
      await passback('https://service.example', { ...options, proxy: address('me:p%40ss') }),
    ).toBe(200);
    const error = await passback('https://service.example', {
      ...options,
      proxy: address('me:guess'),
    });
    await proxy.close();
    await server.close();
    expect(error).toMatchObject({ reason: 'proxy', received: false });
    expect((error as Error).message).toBe(
      `cannot reach service.example through the proxy ${new URL(proxy.url).host}, which answered HTTP 407`,
    );
  });

  it('does not hide which certificate is invalid', async () => {
    const server = await tlsServer('other-host', service.url);
    const proxy = await httpProxy(server.url);
    const error = await passback('https://service.example', { proxy: proxy.url, extraCa: ca });
    await proxy.close();
    await server.close();
    expect(error).toMatchObject({ reason: 'tls', received: false });
  });

  it('is left out for this machine', async () => {
    const proxy = await httpServer((_, response) => response.end());
    expect(await passback(service.url, { proxy: proxy.url })).toBe(200);
    await proxy.close();
    expect(proxy.requests).toHaveLength(0);
  });
});
