import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAddresses, openConnection, type Route, secure } from '../../src/cli/commands/doctor/probe.js';
import { parseProxy } from '../../src/client/proxy.js';
import { createService, type Service } from '../../src/service/index.js';
import { httpProxy } from '../support/http-proxy.js';
import { type TestServer, tcpServer } from '../support/raw-server.js';
import { ca, tlsServer } from '../support/tls-server.js';

let service: Service;
let secured: TestServer;

beforeAll(async () => {
  service = await createService();
  secured = await tlsServer('good', service.url);
});

afterAll(async () => {
  await secured.close();
  await service.close();
});

function routeTo(url: string, more: Partial<Route> = {}): Route {
  return {
    url: new URL(url),
    proxy: null,
    extraCa: undefined,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    ...more,
  };
}

/** The step's error; none is null. */
function errorOf(step: Promise<unknown>): Promise<unknown> {
  return step.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('the addresses', () => {
  it('are those of the host, without the brackets of an IPv6 address', async () => {
    expect(await findAddresses(routeTo('http://127.0.0.1'))).toEqual(['127.0.0.1']);
    expect(await findAddresses(routeTo('https://[::1]'))).toEqual(['::1']);
  });

  it('are those of the proxy, if there is one', async () => {
    const proxy = parseProxy('127.0.0.2:3128');
    expect(await findAddresses(routeTo('https://service.example', { proxy }))).toEqual(['127.0.0.2']);
  });

  it('of an unknown host are an error that says so', async () => {
    expect(await errorOf(findAddresses(routeTo('https://nowhere.invalid')))).toMatchObject({
      reason: 'dns',
      received: false,
      message: expect.stringContaining('cannot resolve the host name of nowhere.invalid'),
    });
  });
});

describe('a connection', () => {
  it('goes directly to the service, also by the name of this machine', async () => {
    const named = service.url.replace('127.0.0.1', 'localhost');
    for (const url of [service.url, named]) {
      const socket = await openConnection(routeTo(url));
      expect(socket.remotePort).toBe(Number(new URL(service.url).port));
      socket.destroy();
    }
  });

  it('to a closed port is an error that says what to check', async () => {
    const gone = await tcpServer(() => {});
    await gone.close();
    expect(await errorOf(openConnection(routeTo(gone.url)))).toMatchObject({
      reason: 'connect',
      hint: expect.stringContaining('that the service is running there'),
    });
  });

  it('is opened by the proxy for https, to port 443 unless another is named', async () => {
    const proxy = await httpProxy(secured.url, { credentials: 'me:secret' });
    const known = { proxy: parseProxy(proxy.url.replace('//', '//me:secret@')) };
    for (const url of ['https://service.example', 'https://service.example:8443']) {
      (await openConnection(routeTo(url, known))).destroy();
    }
    expect(proxy.asked).toEqual(['CONNECT service.example:443', 'CONNECT service.example:8443']);
    const unknown = { proxy: parseProxy(proxy.url) };
    expect(await errorOf(openConnection(routeTo('https://service.example', unknown)))).toMatchObject({
      reason: 'proxy',
      message: expect.stringMatching(/through the proxy 127\.0\.0\.1:\d+, which answered HTTP 407$/),
    });
    await proxy.close();
  });

  it('ends at the proxy for http, without a tunnel', async () => {
    const proxy = await httpProxy(service.url);
    const socket = await openConnection(routeTo('http://service.example', { proxy: parseProxy(proxy.url) }));
    expect(socket.remotePort).toBe(Number(new URL(proxy.url).port));
    socket.destroy();
    expect(proxy.asked).toEqual([]);
    await proxy.close();
  });

  it('through a proxy with an invalid certificate is refused', async () => {
    const proxy = parseProxy(secured.url);
    expect(await errorOf(openConnection(routeTo('https://service.example', { proxy })))).toMatchObject({
      reason: 'tls',
      received: false,
    });
  });

  it('that a proxy does not open in time fails', async () => {
    const silent = await tcpServer(() => {});
    const route = routeTo('https://service.example', { proxy: parseProxy(silent.url), timeoutMs: 50 });
    expect(await errorOf(openConnection(route))).toMatchObject({
      reason: 'proxy',
      message: expect.stringContaining('UND_ERR_CONNECT_TIMEOUT'),
    });
    await silent.close();
  });

  it('is not opened after a cancellation, and is closed by one', async () => {
    const over = AbortSignal.abort();
    expect(await errorOf(openConnection(routeTo(service.url, { signal: over })))).toMatchObject({
      code: 'CANCELLED',
    });
    const asked = new AbortController();
    const silent = await tcpServer(() => asked.abort());
    const route = routeTo('https://service.example', {
      proxy: parseProxy(silent.url),
      signal: asked.signal,
    });
    expect(await errorOf(openConnection(route))).toMatchObject({ code: 'CANCELLED' });
    await silent.close();
  });
});

describe('a connection is secured', () => {
  async function secureThere(route: Route) {
    const socket = await openConnection(route);
    try {
      return await secure(socket, route);
    } finally {
      socket.destroy();
    }
  }

  it('if the certificate is of a named authority', async () => {
    const { protocol, certificate } = await secureThere(routeTo(secured.url, { extraCa: ca }));
    expect(protocol).toMatch(/^TLSv1\.[23]$/);
    expect(certificate.subjectaltname).toContain('DNS:localhost');
  });

  it('and not if its authority is unknown, or it is for another host', async () => {
    expect(await errorOf(secureThere(routeTo(secured.url)))).toMatchObject({ reason: 'tls' });
    const byAddress = secured.url.replace('localhost', '127.0.0.2');
    const proxy = await httpProxy(secured.url);
    const route = routeTo(byAddress, { extraCa: ca, proxy: parseProxy(proxy.url) });
    expect(await errorOf(secureThere(route))).toMatchObject({
      reason: 'tls',
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    await proxy.close();
  });

  it('and not forever, if the other side is silent', async () => {
    const silent = await tcpServer(() => {});
    const route = routeTo(silent.url.replace('http:', 'https:'));
    const socket = await openConnection(route);
    expect(await errorOf(secure(socket, { ...route, timeoutMs: 50 }))).toMatchObject({
      message: expect.stringContaining('UND_ERR_CONNECT_TIMEOUT'),
    });
    await silent.close();
  });
});
