import { MockAgent } from 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { UserInfoClient } from '../../../src/index.js';
import { fetchDispatcher } from './fetch-dispatcher.js';

const app = { tenantCode: 'acme', channel: 'web', appKey: 'k', appSecret: 's' };
const baseUrl = 'https://platform.test';
const row = { unionId: 'u1', userInfo: { acme_level: 'gold' } };
const ok = { code: 200, msg: 'ok', data: { union_id: 'u1' } };

afterEach(() => vi.unstubAllGlobals());

it('a MockAgent of undici answers in place of the platform', async () => {
  const agent = new MockAgent({ enableCallHistory: true });
  agent.disableNetConnect();
  const path = (target: string) => target.startsWith('/api/v1/server/user/passback_user_info?');
  agent.get(baseUrl).intercept({ method: 'PUT', path }).reply(200, ok);
  await using client = new UserInfoClient({ baseUrl, ...app, dispatcher: agent });
  expect((await client.passback(row)).data).toEqual({ union_id: 'u1' });
  expect(agent.getCallHistory()?.firstCall()?.body).toContain('acme_level');
  await expect(client.passback(row, { attempts: 1 })).rejects.toMatchObject({ code: 'NO_ANSWER' });
  await agent.close();
});

it('a dispatcher over fetch sends by what replaces it, such as msw', async () => {
  const replies = [Response.json(ok), new Response('<title>Bad</title>', { status: 502 })];
  const requests: Request[] = [];
  vi.stubGlobal('fetch', async (url: string, options: RequestInit) => {
    requests.push(new Request(url, options));
    return replies.shift() ?? Promise.reject(new TypeError('fetch failed'));
  });
  await using client = new UserInfoClient({ baseUrl, ...app, dispatcher: fetchDispatcher() });
  expect((await client.passback(row)).data).toEqual({ union_id: 'u1' });
  expect(requests[0]?.headers.get('content-type')).toBe('application/x-www-form-urlencoded');
  expect(new URLSearchParams(await requests[0]?.text()).get('union_id')).toBe('u1');
  const html = client.read({ code: 'c' });
  await expect(html).rejects.toMatchObject({ reason: 'not-envelope', httpStatus: 502 });
  await expect(client.read({ code: 'c' })).rejects.toMatchObject({
    reason: 'reset',
    received: true,
  });
});
