import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { type AppKeys, draftPassback, send } from '../foreign-client.js';
import { tenant, user } from '../running-service.js';
import { startServiceProcesses } from '../service-process.js';

const users = 8;

let folder: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'userinfo-kill-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

it('has everything that it acknowledged after a kill -9', async () => {
  const database = join(folder, 'killed.db');
  const admin = await openAdmin({ database });
  const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
  const app: AppKeys = { ...rest, secret: app_secret.reveal() };
  for (let i = 0; i < users; i++) await admin.putUser(user(`u${i}`));
  await admin.close();

  const acknowledged: number[] = [];
  for (const round of [1, 2]) {
    const [started] = await startServiceProcesses(database, 1);
    child = started?.child;
    const url = started?.url ?? '';
    let next = round * 100_000;
    const passBackUntilKilled = async () => {
      for (;;) {
        const n = next++;
        const form = { union_id: `u${n % users}`, user_info: `{"key${n}":"${n}"}` };
        const answer = await send(url, draftPassback(app, form)).catch(() => null);
        if (answer === null) return;
        expect(answer.envelope.code).toBe(200);
        acknowledged.push(n);
        if (acknowledged.length === round * 300) child?.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 32 }, passBackUntilKilled));
  }

  expect(acknowledged.length).toBeGreaterThanOrEqual(600);
  const reopened = await openAdmin({ database });
  const stored = new Map<string, string>();
  for await (const { extension_info } of reopened.listUsers({ tenantCode: tenant })) {
    for (const [key, value] of Object.entries(extension_info)) stored.set(key, value);
  }
  await reopened.close();
  const lost = acknowledged.filter((n) => stored.get(`key${n}`) !== String(n));
  expect(lost).toEqual([]);
});
