import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NoAnswerError, UserInfoClient } from '../../../src/index.js';
import type { Service } from '../../../src/service/index.js';
import {
  answerOf,
  changedAndClosed,
  endless,
  type Fault,
  FaultProxy,
  instead,
} from '../../support/fault-proxy.js';
import { httpServer } from '../../support/raw-server.js';
import { rejection } from '../../support/rejection.js';
import { type ServiceWithApp, serviceWithApp } from '../../support/service-with-app.js';
import { faults, oddities, ok } from './bad-answers.js';

/** What waited for it would fail by the time that a test has. */
const longMs = 600_000;
const mebibyte = 1024 * 1024;
const user = { tenant_code: 'acme', union_id: 'u1', basic_info: { mobile: '13800138000' } };

let service: Service;
let credentials: ServiceWithApp['credentials'];
let proxy: FaultProxy;
let client: UserInfoClient;

beforeAll(async () => {
  ({ service, credentials } = await serviceWithApp());
  await service.admin.putUsers([{ extension_info: {}, login_device_info: [], ...user }]);
  proxy = await FaultProxy.before(service.url);
});

beforeEach(() => {
  client = clientWith(longMs);
});

afterEach(() => client.close());

afterAll(async () => {
  await proxy.close();
  await service.close();
});

function clientWith(timeoutMs: number): UserInfoClient {
  return new UserInfoClient({ baseUrl: proxy.url, ...credentials, timeoutMs, attempts: 1 });
}

async function issueCode(): Promise<string> {
  return (await service.admin.issueCode({ tenantCode: 'acme', unionId: 'u1' })).code;
}

async function read(...meeting: Fault[]) {
  return readBy(client, ...meeting);
}

async function readBy(by: UserInfoClient, ...meeting: Fault[]) {
  proxy.faults.splice(0, proxy.faults.length, ...meeting);
  return by.read({ code: await issueCode() });
}

/** What a read that meets a fault fails with, and whether the service had acted on it. */
async function failure(fault: Fault, timeoutMs = longMs) {
  const before = proxy.forwarded;
  await using meeting = clientWith(timeoutMs);
  const error = await rejection(readBy(meeting, fault));
  if (!(error instanceof NoAnswerError))
    throw new Error(`not the error that was expected: ${error}`);
  return { error, acted: proxy.forwarded > before };
}

describe.each(Object.entries(faults))('%s: a read meets', (reason, met) => {
  it.each(met)('%s', async (_, fault) => {
    // What never ends is given up soon: where the machine is busy, not before the request was sent.
    let timeoutMs = reason === 'timeout' || reason === 'any' ? 100 : longMs;
    let { error } = await failure(fault, timeoutMs);
    for (; !error.received && timeoutMs < longMs; timeoutMs *= 4)
      ({ error } = await failure(fault, 4 * timeoutMs));
    expect(error.received).toBe(true);
    if (reason !== 'any') expect(error.reason).toBe(reason);
    expect(error.message).toContain(new URL(proxy.url).host);
    expect(error.message).not.toMatch(/\p{Cc}|13800138000/u);
    expect(await read()).toMatchObject({ envelope: { code: 200 } });
  });
});

describe('an unusual but valid envelope', () => {
  it.each(oddities)('is accepted: %s', async (_, fault) => {
    const { envelope } = await read(fault);
    expect(envelope).toMatchObject({ code: 200, data: { union_id: 'u1' } });
  });
});

it('does not follow a redirect: a signed request goes to one host', async () => {
  const other = await httpServer((_, response) => response.end(ok));
  for (const status of [
    '301 Moved',
    '302 Found',
    '303 See Other',
    '307 Temporary',
    '308 Permanent',
  ]) {
    const { error } = await failure(
      instead(answerOf('', [`Location: ${other.url}/x?sign=abc`], status)),
    );
    expect(error.message).toContain(`pointing to "${other.url}/x"`);
  }
  await other.close();
  expect(other.requests).toHaveLength(0);
});

it('stops reading an answer longer than any envelope', async () => {
  const chunk = Buffer.alloc(mebibyte, ' ');
  const open = endless('HTTP/1.1 200 OK\r\n\r\n', chunk);
  expect((await failure(open)).error.message).toContain('more than 2097152 bytes');
  expect(open.written()).toBeLessThan(32 * mebibyte);
  const announced = endless(`HTTP/1.1 200 OK\r\nContent-Length: ${100 * mebibyte}\r\n\r\n`, chunk);
  expect((await failure(announced)).error.message).toContain('more than 2097152 bytes');
  expect(announced.written()).toBeLessThan(8 * mebibyte);
});

describe('a kept-alive connection', () => {
  /**
   * Reads, does something to the connection, reads again; how many connections the second read
   * took.
   */
  async function readAround(between: () => unknown, waitMs = 0): Promise<number> {
    const codes = [await issueCode(), await issueCode()] as const;
    const first = await client.read({ code: codes[0] });
    const [connections, forwarded] = [proxy.connections, proxy.forwarded];
    await between();
    if (waitMs > 0) await pause(waitMs);
    const second = await client.read({ code: codes[1] });
    for (const { envelope } of [first, second]) {
      expect(envelope.data.basic_info).toEqual({ mobile: '13800138000' });
    }
    expect(proxy.forwarded - forwarded).toBe(1);
    return proxy.connections - connections;
  }

  it('is reused', async () => {
    expect(await readAround(() => {})).toBe(0);
  });

  it('is not reused once the service has closed it, even at the same moment', async () => {
    expect(await readAround(() => proxy.endConnections(), 20)).toBe(1);
    expect(await readAround(() => proxy.endConnections())).toBe(1);
    expect(await readAround(() => proxy.resetConnections())).toBe(1);
  });

  it('is not reused after "Connection: close"', async () => {
    await read(changedAndClosed(({ head, body }) => head.replace(/keep-alive/gi, 'close') + body));
    expect(await readAround(() => {})).toBe(0);
  });

  it('is not reused after an unsolicited answer', async () => {
    const forged = answerOf(ok.replace('u1', 'forged'));
    await read(async ({ client, forward }) => {
      const { head, body } = await forward();
      client.write(Buffer.concat([Buffer.from(head), body, forged]));
    });
    expect(await readAround(() => proxy.writeToConnections(forged))).toBe(1);
  });
});
