import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  createService,
  type LogEvent,
  type Service,
  type ServiceOptions,
} from '../../../src/service/index.js';
import { openSocket, parseAnswers } from '../../support/raw-exchange.js';

/** As long as a signed one. */
const request = `GET /api/v1/server/user/user_info_for_third HTTP/1.1\r\nX-Filler: ${'x'.repeat(300)}\r\n\r\n`;
/** Maximum number of them that Node.js receives at once, and then hands over without a pause. */
const atOnce = Math.ceil(65_536 / request.length);

let [started, answered, waiting, most] = [0, 0, 0, 0];
const begin = () => {
  started += 1;
  waiting += 1;
  most = Math.max(most, waiting);
};
const end = () => {
  answered += 1;
  waiting -= 1;
};

let service: Service | undefined;
const sockets: Socket[] = [];
const events: LogEvent[] = [];

beforeEach(() => {
  [started, answered, waiting, most] = [0, 0, 0, 0];
  events.length = 0;
  subscribe('http.server.request.start', begin);
  subscribe('http.server.response.finish', end);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service?.close();
  unsubscribe('http.server.request.start', begin);
  unsubscribe('http.server.response.finish', end);
});

async function start(settings: ServiceOptions = {}): Promise<string> {
  service = await createService({ log: (event) => events.push(event), ...settings });
  return service.url;
}

/** Sends the same request many times on a connection, and returns what it is answered. */
function pipeline(
  url: string,
  one: string,
  count: number,
): { socket: Socket; received: () => string } {
  const socket = openSocket(url);
  sockets.push(socket);
  let text = '';
  socket
    .on('error', () => {})
    .on('data', (bytes) => {
      text += bytes.toString();
    });
  socket.write(one.repeat(count));
  return { socket, received: () => text };
}

it('a connection with many unanswered requests is not read further, and all are answered', async () => {
  const url = await start({
    faults: { latencyMs: { min: 50, max: 50 }, seed: 1 },
    keepAliveMs: 60_000,
  });
  const count = 4 * atOnce;
  const { received } = pipeline(url, request, count);
  await expect.poll(() => answered, { timeout: 100_000 }).toBe(count);
  await expect
    .poll(() => received().split('"code":40001').length - 1, { timeout: 10_000 })
    .toBe(count);
  expect(parseAnswers(Buffer.from(received()))).toHaveLength(count);
  expect(started).toBe(count);
  expect(most).toBeLessThan(2 * atOnce);
}, 120_000);

it('connections that sent many requests at once are closed when too many wait, and no other', async () => {
  // Longer than the test takes.
  const latencyMs = { min: 120_000, max: 120_000 };
  const url = await start({ faults: { latencyMs, seed: 1 }, keepAliveMs: 60_000 });
  const few = pipeline(url, request, 8);
  await expect.poll(() => waiting).toBe(8);
  const many = Array.from({ length: 80 }, () => pipeline(url, request, atOnce));
  await expect.poll(() => many.filter(({ socket }) => socket.destroyed).length).toBeGreaterThan(0);
  expect(few.socket.destroyed).toBe(false);
  expect(events).toContainEqual({
    event: 'overload',
    problem: 'too many requests wait; connections that sent many at once are closed',
  });
});

it.each(['/nope', '/healthz', '/openapi.json'])(
  'a connection that sends thousands of requests for %s at once is closed, and they are not processed',
  async (path) => {
    const url = await start();
    const tiny = `GET ${path} HTTP/1.1\r\n\r\n`;
    const { socket } = pipeline(url, tiny, 20 * 1700);
    await expect.poll(() => socket.destroyed).toBe(true);
    expect(events.filter(({ event }) => event === 'overload').length).toBeGreaterThan(0);
    expect(events.filter(({ event }) => event === 'request').length).toBeLessThan(1700);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  },
);
