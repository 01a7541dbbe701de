import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine, printedBy } from '../../../support/cli.js';
import { exchange, openSocket } from '../../../support/raw-exchange.js';

const get = 'GET /api/v1/server/user/user_info_for_third HTTP/1.1\r\n';

let machine: Machine;
let service: ChildProcess;
let url: string;

async function start(options: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const memory = ['--port', '0', '--database', ':memory:', '--log-format', 'json'];
  service = machine.start(['serve', ...memory, ...options], { env });
  url = (await printedBy(service, /"(http:[^"]+)"/))[1] ?? '';
}

beforeEach(() => {
  machine = new Machine();
});
afterEach(() => {
  service.kill('SIGKILL');
  machine[Symbol.dispose]();
});

async function stop(...signals: NodeJS.Signals[]): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => service.once('exit', resolve));
  for (const signal of signals) service.kill(signal);
  return await ended;
}

/** Sends as many requests at once as a connection may, over one connection after the other. */
const ask = async (count: number) => {
  let answers = 0;
  for (let left = count; left > 0; left -= 200) {
    const more = `${get}\r\n`.repeat(Math.min(200, left) - 1);
    answers += (await exchange(url, `${more}${get}Connection: close\r\n\r\n`)).length;
  }
  return answers;
};

describe('serve', () => {
  it.each([
    ['SIGTERM', ['SIGTERM']],
    ['SIGHUP, which a shell sends once more when its terminal closes', ['SIGHUP', 'SIGHUP']],
  ] as const)('ends with status 0 on %s', async (_, signals) => {
    await start();
    expect(await stop(...signals)).toBe(0);
  });

  it('logs and counts an error that nobody handles, stops as on SIGTERM, and ends with status 1', async () => {
    writeFileSync(
      join(machine.folder, 'fail.cjs'),
      `process.on('SIGUSR2', () => { void Promise.reject(new Error('nobody handles\\nthis')); });`,
    );
    await start(['--drain-delay', '10m'], { NODE_OPTIONS: '--require ./fail.cjs' });
    let log = '';
    service.stderr?.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    const faults = async () =>
      /userinfo_problems_total\{event="fault"\} (\d+)/.exec(
        await (await fetch(`${url}/metrics`)).text(),
      )?.[1];
    expect(await faults()).toBe('0');
    service.kill('SIGUSR2');
    await expect.poll(faults).toBe('1');
    expect(await stop('SIGTERM')).toBe(1);
    const events = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toContainEqual(
      expect.objectContaining({
        level: 'error',
        event: 'fault',
        problem: expect.stringContaining('Error: nobody handles\nthis\n    at'),
      }),
    );
    expect(events.at(-1)).toMatchObject({ event: 'stopped' });
  });

  it('hurries on a second SIGTERM, and answers the requests in flight all the same', async () => {
    await start(['--drain-delay', '10m']);
    const socket = openSocket(url);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk;
    });
    socket.write(get);
    const ready = async () => (await fetch(`${url}/readyz`)).status;
    expect(await ready()).toBe(200);
    const ended = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGTERM');
    await expect.poll(ready).toBe(503);
    service.kill('SIGTERM');
    // It accepts no more connections.
    await expect.poll(() => ready().catch(() => 'closed')).toBe('closed');
    socket.write('\r\n');
    expect(await ended).toBe(0);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('continues when the reader of its log has exited', async () => {
    await start();
    service.stderr?.destroy();
    for (let count = 0; count < 3; count += 1) expect(await ask(10)).toBe(10);
    expect(await stop('SIGTERM')).toBe(0);
  });

  it('drops log lines while the reader stalls, and reports that when it resumes', async () => {
    await start();
    service.stderr?.pause();
    for (let count = 0; count < 2; count += 1) expect(await ask(3000)).toBe(3000);
    const read = printedBy(service, /"log_dropped","events":(\d+)/);
    service.stderr?.resume();
    const [, dropped] = await read;
    expect(Number(dropped)).toBeGreaterThan(1000);
    expect(Number(dropped)).toBeLessThan(6000);
  });

  it('stops even if the reader of its log stalls', async () => {
    await start();
    service.stderr?.pause();
    expect(await ask(1000)).toBe(1000);
    expect(await stop('SIGTERM')).toBe(0);
  });
});
