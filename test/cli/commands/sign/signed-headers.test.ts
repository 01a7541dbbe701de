import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { RecipeError, UserInfoClient } from '../../../../src/index.js';
import { createService } from '../../../../src/service/index.js';
import { Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

const machine = new Machine();
afterAll(() => machine[Symbol.dispose]());

/** A rule of requests with headers of their own, which reads and passbacks have not. */
const recipe = { message: ['$params', '$extra:X-Time', '$secret'], steps: ['sha256'] };
const platform = { signing: { sign: recipe } };
const file = join(machine.folder, 'theirs.json');
writeFileSync(file, JSON.stringify(platform));
const app = ['--tenant-code', 't', '--channel', 'c'];

it('a client whose rule signs a header that requests have not sends nothing', async () => {
  const server = await httpServer((_, response) => response.end('{}'));
  const options = {
    tenantCode: 't',
    channel: 'c',
    appKey: 'k',
    appSecret: 's',
    baseUrl: server.url,
  };
  const client = new UserInfoClient({ ...options, platform });
  const error = await client.read({ code: 'c1' }).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(RecipeError);
  expect(error).toMatchObject({ field: '$extra:X-Time' });
  const values = [...app, '--app-key', 'k', '--base-url', server.url, '--app-secret-env', 'SECRET'];
  const env = { SECRET: 's' };
  expect(await machine.run(['profile', 'add', 'shop', ...values], { env })).toMatchObject({
    status: 0,
  });
  const done = await machine.run(['read', 'c1', '-p', 'shop', '--platform', file], { env });
  expect(done.stderr.replaceAll(/\s+/g, ' ')).toContain(
    '$extra:X-Time: the request has no such header',
  );
  expect(done.status).not.toBe(0);
  expect(server.requests).toEqual([]);
  await client.close();
  await server.close();
});

it('a service does not start with such a rule, and takes no app with it', async () => {
  const start = async () => createService({ platform });
  await expect(start()).rejects.toThrow('the service reads no header "x-time" to sign');
  const created = await machine.run(['admin', 'app', 'create', ...app, '--platform', file]);
  expect(created.status).not.toBe(0);
  expect(created.stderr).toContain('the service reads no header "x-time" to sign');
});
