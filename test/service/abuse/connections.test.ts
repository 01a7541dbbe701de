import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/signing/secret.js';
import { createService, type LogEvent } from '../../../src/service/index.js';
import { Machine, printedBy } from '../../support/cli.js';
import {
  exchange,
  expectAnyEnvelope,
  expectEnvelope,
  openSocket,
  parseAnswers,
} from '../../support/raw-exchange.js';

const read = 'GET /api/v1/server/user/user_info_for_third HTTP/1.1\r\n';
const put = 'PUT /api/v1/server/user/passback_user_info HTTP/1.1\r\n';
/**
 * An address of this machine that is no loopback address: to the service, another machine is there.
 */
const here =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
const megabyte = Buffer.alloc(1 << 20, 'x');

describe('a service of its own process', () => {
  const machine = new Machine();
  let service: ChildProcess;
  let url: string;
  let log = '';

  beforeAll(async () => {
    const limits = ['--keep-alive', '72s', '--max-body', '1MiB'];
    service = machine.start(['serve', '--port', '0', '--database', ':memory:', ...limits]);
    service.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    url = (await printedBy(service, /listening on (http:\S+)/))[1] ?? '';
  });
  afterAll(() => {
    service.kill();
    machine[Symbol.dispose]();
  });

  async function openMany(count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () => openSocket(url));
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
    );
    return sockets;
  }

  async function isHealthy(): Promise<boolean> {
    return (await fetch(`${url}/healthz`)).status === 200;
  }

  /** Sends a chunk over and over, for as long as the service takes it, up to so many times. */
  async function pour(socket: Socket, chunk: Uint8Array, times: number): Promise<number> {
    for (let sent = 1; sent <= times; sent++) {
      if (socket.destroyed) return sent;
      if (!socket.write(chunk)) await drained(socket);
    }
    return times;
  }

  /**
   * As long as a signed one: of shorter ones more would arrive at once than a connection may wait
   * for.
   */
  const long = `${read}X-Filler: ${'x'.repeat(300)}\r\n`;

  it('answers thousands of requests on one connection, each once', async () => {
    const answers = await exchange(
      url,
      `${`${long}\r\n`.repeat(2_999)}${long}Connection: close\r\n\r\n`,
    );
    expect(answers).toHaveLength(3_000);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expectEnvelope(answers[0], 40001);
  });

  it('does not gather the answers that a client does not read', async () => {
    const [socket] = await openMany(1);
    if (socket === undefined) return;
    socket.pause();
    await Promise.race([pour(socket, Buffer.from(`${long}\r\n`.repeat(150)), 200), pause(1000)]);
    expect(await isHealthy()).toBe(true);
    socket.destroy();
  });

  it('closes the connection of a client that does not read its answers', async () => {
    await using hasty = await createService({ requestTimeoutMs: 500, keepAliveMs: 500 });
    const socket = openSocket(hasty.url);
    socket.pause();
    await pour(socket, Buffer.from(`${long}\r\n`.repeat(150)), Number.POSITIVE_INFINITY).catch(
      () => {},
    );
    expect(socket.destroyed).toBe(true);
  });

  it('stays at work when clients break their connections off right after a request', async () => {
    for (const socket of await openMany(200)) {
      socket.write(`${read}\r\n`);
      setImmediate(() => socket.resetAndDestroy());
    }
    await expect.poll(() => log.match(/^\S+ 400 read/gm)?.length ?? 0).toBeGreaterThan(100);
    expect(await isHealthy()).toBe(true);
  });

  it('stays at work beside hundreds of connections that send their headers slowly', async () => {
    const sockets = await openMany(300);
    for (let part = 0; part < 10; part++) {
      for (const socket of sockets)
        socket.write(part === 0 ? read : `X-${part}: ${'x'.repeat(1400)}\r\n`);
    }
    expect(await isHealthy()).toBe(true);
    for (const socket of sockets) socket.destroy();
  });

  it('stays at work beside hundreds of large bodies that never end', async () => {
    const sockets = await openMany(200);
    for (const socket of sockets) {
      socket.write(`${put}Content-Length: ${megabyte.length}\r\n\r\n`);
      socket.write(megabyte.subarray(1));
    }
    await expect
      .poll(() => sockets.filter(({ bytesWritten }) => bytesWritten > 1e6).length)
      .toBe(200);
    const [small] = await exchange(
      url,
      `${put}Content-Length: 11\r\nConnection: close\r\n\r\nunion_id=u1`,
    );
    expectEnvelope(small, 40001);
    for (const socket of sockets) socket.destroy();
  });

  it.each([
    ['2 GB that are announced', `${put}Content-Length: 2147483648\r\n\r\n`, megabyte],
    [
      'chunks without end',
      `${put}Transfer-Encoding: chunked\r\n\r\n`,
      Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')]),
    ],
  ])('refuses %s at once, and does not keep what comes all the same', async (_, head, chunk) => {
    const [socket] = await openMany(1);
    if (socket === undefined) return;
    const received: Buffer[] = [];
    socket.on('data', (data: Buffer) => received.push(data));
    socket.write(head);
    expect(await pour(socket, chunk, 100)).toBe(100);
    const answers = parseAnswers(Buffer.concat(received));
    expect(answers.map(expectAnyEnvelope)).toEqual([41301]);
    socket.destroy();
  });

  it.runIf(process.platform === 'linux')(
    'has not needed much memory for any of this (needs Linux)',
    () => {
      const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
      const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
      expect(Number(kilobytes)).toBeGreaterThan(30 * 1024);
      expect(Number(kilobytes)).toBeLessThan(512 * 1024);
    },
  );

  it('holds no connection after any of this, and has had no fault', async () => {
    expect(log).not.toMatch(/fault|Error|Unhandled|Warning/);
    await isHealthy();
    const stopped = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGTERM');
    expect(await stopped).toBe(0);
  });
});

/** Resolves once more can be sent, or nothing can. */
async function drained(socket: Socket): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]);
  over.abort();
}

describe('a service with limits of its own', () => {
  it('answers a connection that goes on sending garbage once, after the request before it', async () => {
    const log: LogEvent[] = [];
    const faults = { latencyMs: { min: 300, max: 300 }, seed: 1 };
    const service = await createService({ faults, log: (event) => log.push(event) });
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const socket = openSocket(service.url);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk;
    });
    socket.write(`${read}\r\n`);
    for (let sent = 0; sent < 20; sent++) {
      await pause(5);
      socket.write('garbage\u0001\r\n\r\n');
    }
    await expect.poll(() => parseAnswers(Buffer.from(received)).length).toBe(2);
    expect(parseAnswers(Buffer.from(received)).map(expectAnyEnvelope)).toEqual([40001, 40002]);
    expect(log.filter(({ event }) => event === 'request')).toMatchObject([
      { code: 40001 },
      { code: 40002 },
    ]);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    socket.destroy();
    await service.close();
  });

  it.each([
    ['in all', '127.0.0.1', 3, '3 connections are open; further ones are closed'],
    ['of another machine', here, 1, `1 connections of ${here} are open; further ones are closed`],
  ])(
    'closes the connections past its limit %s at once, says so, and takes new ones when there is room',
    async (_, host, count, problem) => {
      const log: LogEvent[] = [];
      const service = await createService({
        maxConnections: 3,
        host,
        log: (event) => log.push(event),
      });
      const sockets = Array.from({ length: count }, () => openSocket(service.url));
      await Promise.all(
        sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
      );
      await expect(exchange(service.url, `${read}\r\n`)).resolves.toEqual([]);
      await expect(exchange(service.url, `${read}\r\n`)).resolves.toEqual([]);
      expect(log.filter(({ event }) => event === 'overload')).toEqual([
        { event: 'overload', problem },
      ]);
      sockets[0]?.destroy();
      const answered = async () =>
        (await exchange(service.url, `${read}Connection: close\r\n\r\n`)).length;
      await expect.poll(answered).toBe(1);
      for (const socket of sockets) socket.destroy();
      await service.close();
    },
  );

  it.concurrent.for(
    ['service', 'admin port'].flatMap((port) => [
      [port, 'asked once', 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'],
      [port, 'never sent a byte', ''],
      [port, 'sent a part of its headers', 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: '],
    ]),
  )(
    'lets others in beside more idle connections of one address than it takes: %s, each %s',
    async ([port, , bytes = ''], { expect }) => {
      let adminUrl = '';
      const log = (event: LogEvent) => {
        if (event.event === 'monitoring') adminUrl = event.url;
      };
      const adminTokens = [new Secret('a token of an operator')];
      await using service = await createService({
        ...{ adminPort: 0, adminTokens, host: here, log, maxConnections: 100 },
      });
      const url = port === 'service' ? service.url : adminUrl;
      const closed = new Set<Socket>();
      const open = (sent: string) => {
        const socket = openSocket(url).resume();
        socket.once('close', () => closed.add(socket)).write(sent);
        return socket;
      };
      // This has as much time as a request may take.
      const codes =
        'POST /codes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a token of an operator\r\n';
      const slow = open(`${port === 'service' ? put : codes}Content-Length: 9\r\n\r\n{`);
      await once(slow, 'connect');
      const idle = Array.from({ length: 101 }, () => open(bytes));
      const isIn = async () => {
        const live = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
        return (await exchange(url, live)).length === 1;
      };
      // All but a tenth of the maximum are closed at once; the others after 5 s.
      await expect.poll(() => idle.filter((socket) => closed.has(socket)).length).toBe(idle.length);
      await expect.poll(isIn).toBe(true);
      expect(closed).not.toContain(slow);
      for (const socket of [slow, ...idle]) socket.destroy();
    },
  );
});
