import { mkdtempSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestService, type TestService } from 'userinfo-exchange/service';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let service: TestService;
const folder = mkdtempSync(join(tmpdir(), 'userinfo-examples-'));

/**
 * The same platform with result codes of its own: what an example does must not depend on the
 * numbers of the service.
 */
const ownCodes = { 2001: 'noSuchUser', 2002: 'codeNotValid', 2003: 'storeUnavailable' } as const;

describe.each([
  ['those of userinfo serve', {}],
  ['those of another platform', { result_codes: ownCodes, http_status: 200 }],
] as const)('with result codes that are %s', (name, platform) => {
  beforeAll(async () => {
    vi.resetModules();
    const users = [{ union_id: 'u001', basic_info: { mobile: '13800138000' } }];
    service = await createTestService({ users, platform });
    const { baseUrl, tenantCode, channel, appKey, appSecret } = service.clientOptions;
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(platform));
    vi.stubEnv('USERINFO_BASE_URL', baseUrl);
    vi.stubEnv('USERINFO_TENANT_CODE', tenantCode);
    vi.stubEnv('USERINFO_CHANNEL', channel);
    vi.stubEnv('USERINFO_APP_KEY', appKey);
    vi.stubEnv('USERINFO_APP_SECRET', appSecret);
    vi.stubEnv('USERINFO_PLATFORM', file);
  });

  afterAll(async () => {
    await (await import('./client.js')).client().close();
    await service.close();
  });

  const issueCode = () => service.issueCode('u001');

  async function urlOf(server: Server): Promise<string> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('express.ts signs a user in once, reads, and passes back', async () => {
    const { app } = await import('./express.js');
    const server = createServer(app);
    const url = await urlOf(server);
    const signIn = `${url}/sign-in?code=${await issueCode()}`;
    const answer = await fetch(signIn);
    expect(await answer.json()).toEqual({ user: 'u001' });
    expect((await fetch(signIn)).status).toBe(403);
    expect((await fetch(`${url}/sign-in`)).status).toBe(400);
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await fetch(`${url}/me`)).status).toBe(401);
    const me = await fetch(`${url}/me`, { headers: { cookie } });
    expect(await me.json()).toEqual({ unionId: 'u001', mobile: '13800138000' });
    const level = await fetch(`${url}/me/level`, {
      method: 'PUT',
      headers: { cookie, 'content-type': 'application/json' },
      body: '{"level":"gold"}',
    });
    expect(level.status).toBe(204);
    expect(service.requests.at(-1)).toMatchObject({ userInfo: { acme_level: 'gold' } });
    server.close();
  });

  it('nestjs.ts writes a level', async () => {
    const { NestFactory } = await import('@nestjs/core');
    const { UsersModule } = await import('./nestjs.js');
    const app = await NestFactory.create(UsersModule, { logger: false });
    const url = await urlOf(app.getHttpServer());
    await app.init();
    const post = (unionId: string) =>
      fetch(`${url}/users/${unionId}/level`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"level":"gold"}',
      });
    expect((await post('u001')).status).toBe(204);
    expect((await post('u999')).status).toBe(404);
    app.getHttpServer().close();
  });

  it('nextjs-route.ts reads', async () => {
    const { GET } = await import('./nextjs-route.js');
    const answer = await GET(new Request(`http://localhost/api/user?code=${await issueCode()}`));
    expect(await answer.json()).toMatchObject({ union_id: 'u001', mobile: '13800138000' });
    expect((await GET(new Request('http://localhost/api/user?code=none'))).status).toBe(403);
  });

  it('lambda.ts writes', async () => {
    const { handler } = await import('./lambda.js');
    expect(await handler({ unionId: 'u001', userInfo: { age: 28 } })).toEqual({
      statusCode: 200,
      body: 'ok',
    });
    expect(await handler({ unionId: '', userInfo: { age: 28 } })).toMatchObject({
      statusCode: 400,
    });
  });

  it('job-queue.ts runs a job again only where that can help', async () => {
    const { work } = await import('./job-queue.js');
    expect(await work({ unionId: 'u001', level: 'gold' })).toBe('done');
    expect(await work({ unionId: 'u999', level: 'gold' })).toBe('aside');
    service.failNext(3, { code: 50301 });
    expect(await work({ unionId: 'u001', level: 'gold' })).toBe('again');
  });
});
