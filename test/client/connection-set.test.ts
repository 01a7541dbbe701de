import type { ServerResponse } from 'node:http';
import { Client } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AnswerCollector } from '../../src/client/answer-collector.js';
import { ConnectionSet } from '../../src/client/connection-set.js';
import { httpServer } from '../support/raw-server.js';

/** One more than any test has use for, but those that say otherwise. */
const most = 3;

let server: Awaited<ReturnType<typeof httpServer>>;
let connections: ConnectionSet;
/** The ports that requests came from, in their order. */
let ports: (number | undefined)[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  ports = [];
  answer = (response) => response.end('{}');
  server = await httpServer((_, response) => {
    ports.push(response.socket?.remotePort);
    answer(response);
  });
  connections = new ConnectionSet(most, () => new Client(server.url));
});

afterEach(async () => {
  await connections.destroy();
  await server.close();
});

/** Resolves with what became of a request; `told` is called as that is known. */
function send(told: () => void = () => {}): Promise<'answered' | 'failed'> {
  return new Promise((resolve) => {
    const over = (how: 'answered' | 'failed') => () => {
      told();
      resolve(how);
    };
    const listener = { started() {}, answered: over('answered'), failed: over('failed') };
    connections.dispatch({ path: '/', method: 'GET' }, new AnswerCollector(listener));
  });
}

it('what is sent as an answer is told takes the connection that it came by', async () => {
  const next: Promise<unknown>[] = [];
  await Promise.all([send(() => next.push(send())), send(() => next.push(send()))]);
  await Promise.all(next);
  const [first, second] = ports;
  expect(first).not.toBe(second);
  expect(ports).toHaveLength(4);
  expect(new Set(ports).size).toBe(2);
});

it('what is sent later takes one that has nothing to do', async () => {
  for (let count = 0; count < 5; count += 1) await send();
  expect(new Set(ports).size).toBe(1);
});

it('there are as many as there may be, and more requests wait for them', async () => {
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => send()));
  expect(outcomes).toEqual(Array(50).fill('answered'));
  expect(new Set(ports).size).toBe(most);
});

it('one that was closed opens itself again', async () => {
  answer = (response) => response.destroy();
  expect(await Promise.all([send(), send()])).toEqual(['failed', 'failed']);
  answer = (response) => response.end('{}');
  expect(await Promise.all([send(), send(), send()])).toEqual(Array(3).fill('answered'));
});

it('an error of who is told leaves its connection of use', async () => {
  const fault = new Error('not meant');
  const told = await new Promise((resolve) => {
    const onResponseEnd = () => {
      throw fault;
    };
    const onResponseError = (_: unknown, error: Error) => resolve(error);
    connections.dispatch({ path: '/', method: 'GET' }, { onResponseEnd, onResponseError });
  });
  expect(told).toBe(fault);
  ports = [];
  expect(await Promise.all(Array.from({ length: 10 }, () => send()))).toEqual(Array(10).fill('answered'));
  expect(new Set(ports).size).toBe(most);
});

it('what is under way when they are ended fails', async () => {
  answer = () => {};
  const outcomes = Promise.all(Array.from({ length: most + 1 }, () => send()));
  await expect.poll(() => ports.length).toBe(most);
  await connections.destroy();
  expect(await outcomes).toEqual(Array(most + 1).fill('failed'));
});
