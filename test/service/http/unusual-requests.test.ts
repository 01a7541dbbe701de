import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService } from '../../../src/service/index.js';
import {
  draftPassback,
  draftRead,
  fetchAnswer,
  freshRandom,
  send,
  signDraft,
} from '../../support/foreign-client.js';
import {
  exchange as exchangeWith,
  expectEnvelope,
  nextAnswer,
  openSocket,
} from '../../support/raw-exchange.js';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

const passbackPath = '/api/v1/server/user/passback_user_info';
const readPath = '/api/v1/server/user/user_info_for_third';
const formType = 'application/x-www-form-urlencoded';

let running: RunningService;

beforeAll(async () => {
  running = await runService({ maxBodyBytes: 10_000 });
  await running.service.admin.putUser(user('u1'));
});
afterAll(() => running.service.close());

const exchange = (bytes: string | Buffer, url = running.service.url) => exchangeWith(url, bytes);
const last = 'Connection: close\r\n\r\n';

describe('input that is not a request', () => {
  it.each([
    ['no request line', 'HELLO\r\n\r\n', 40002],
    ['an unknown method', `BREW / HTTP/1.1\r\n${last}`, 40002],
    ['a broken header', `GET / HTTP/1.1\r\nHost a\r\n${last}`, 40002],
    ['a TLS handshake', Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5, 13, 10]), 40002],
    ['UTF-8 without escapes in the target', `GET ${readPath}?code=张 HTTP/1.1\r\n${last}`, 40002],
    [
      'a broken chunk',
      `PUT ${passbackPath} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`,
      40002,
    ],
    ['too large headers', `GET ${readPath}?code=${'x'.repeat(20_000)} HTTP/1.1\r\n${last}`, 41301],
    ['headers without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(2_000_000)}`, 41301],
  ])('is answered with an envelope: %s', async (_, bytes, code) => {
    const [answer, ...more] = await exchange(bytes);
    expectEnvelope(answer, code);
    expect(answer?.head).toMatch(/^connection: close\r?$/im);
    expect(more).toEqual([]);
  });

  it.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nX: ', 'x'],
    ['a body', `PUT ${passbackPath} HTTP/1.1\r\nContent-Length: 1000\r\n\r\n`, 'x'],
    ['anything at all', '', ''],
  ])('is answered with 40801 where %s take too long, even byte by byte', async (_, start, drip) => {
    await using hasty = await createService({ requestTimeoutMs: 400 });
    const socket = openSocket(hasty.url);
    const answer = nextAnswer(socket);
    socket.write(start);
    const dripping = setInterval(() => socket.writable && socket.write(drip), 50);
    expect(await answer).toContain('"code":40801');
    clearInterval(dripping);
    socket.destroy();
  });
});

describe('an unusual request', () => {
  it.each([
    'HEAD',
    'OPTIONS',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'PROPFIND',
    'QUERY',
    'PURGE',
  ])(
    'of method %s to the read, the page or the OpenAPI document is answered with 40501 and Allow',
    async (method) => {
      for (const path of method === 'HEAD' ? [readPath] : [readPath, '/', '/openapi.json']) {
        const [answer] = await exchange(
          `${method} ${path} HTTP/1.1\r\nContent-Length: 0\r\n${last}`,
        );
        expect(answer?.status).toBe(405);
        expect(answer?.head.toLowerCase()).toContain('allow: get');
        if (method !== 'HEAD') expectEnvelope(answer, 40501);
      }
    },
  );

  it.each([
    ['/', 'GET'],
    ['/api/%zz', 'GET'],
    ['/%ff', 'GET'],
    ['*', 'OPTIONS'],
    [`${readPath}/`, 'GET'],
    [`/${readPath}`, 'GET'],
    [readPath.toUpperCase(), 'GET'],
    ['/nothing', 'PUT'],
  ])('to the path %s is answered with 40402', async (path, method) => {
    const [answer] = await exchange(`${method} ${path} HTTP/1.1\r\nContent-Length: 0\r\n${last}`);
    expectEnvelope(answer, 40402);
  });

  it.each([
    ['GET /healthz?x=1', 200, undefined],
    ['HEAD /healthz', 200, undefined],
    ['GET /%68ealthz', 200, undefined],
    ['GET http://elsewhere.example/livez', 200, undefined],
    ['HEAD /readyz', 200, undefined],
    ['POST /healthz', 405, 'GET'],
    ['DELETE /metrics', 405, 'GET'],
    ['HEAD /openapi.json', 405, 'GET'],
    ['OPTIONS /', 405, 'GET'],
    ['GET /healthz/', 404, undefined],
    ['GET /healthz%2f', 404, undefined],
    ['GET /healthz%3fx', 404, undefined],
    ['GET /healthz%ff', 404, undefined],
    ['GET /healthz;x', 404, undefined],
    ['GET /codes', 404, undefined],
    [`GET ${readPath.replace('_', '%5F')}`, 400, undefined],
    [`GET ${readPath.replace('/user/', '%2Fuser%2F')}`, 404, undefined],
  ])('%s is answered with %i', async (line, status, allow) => {
    const [answer] = await exchange(`${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${last}`);
    const named = (name: string) =>
      new RegExp(`^${name}: (.*)$`, 'im').exec(answer?.head ?? '')?.[1];
    expect({ status: answer?.status, allow: named('allow') }).toEqual({ status, allow });
    expect(named('x-request-id')).toMatch(/^[\da-f-]{36}$/);
    expect(Number(named('content-length'))).toBeGreaterThan(0);
  });

  it('can have an absolute target without a Host header', async () => {
    const { code } = await running.service.admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
    const { target } = signDraft(draftRead(running.app, code));
    const [answer] = await exchange(`GET ${running.service.url}${target} HTTP/1.1\r\n${last}`);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 200, data: { union_id: 'u1' } });
  });

  it('can have a Content-Type without a body', async () => {
    const { code } = await running.service.admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
    const draft = draftRead(running.app, code);
    draft.headers['content-type'] = 'application/json';
    expect((await send(running.service.url, draft)).envelope.code).toBe(200);
  });

  it('can have any Expect header', async () => {
    const signed = signDraft(
      draftPassback(running.app, { union_id: 'u1', user_info: '{"a":"b"}' }),
    );
    const head = `PUT ${signed.target} HTTP/1.1\r\nExpect: miracles\r\nContent-Length: ${signed.body?.length}`;
    const [answer] = await exchange(`${head}\r\n${last}${signed.body}`);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 200 });
  });
});

describe('the query', () => {
  it.each([
    ['a broken escape', 'code=%zz'],
    ['an escape of no UTF-8', 'code=%ff'],
    ['half a surrogate pair', 'code=%ed%a0%80'],
    ['U+0000', 'code=a%00b'],
    ['a parameter that comes twice', 'code=a&code=a'],
    ['an unknown parameter that comes twice', 'code=a&x=1&x=2'],
    ['an unreadable name', 'code=a&%ff=1'],
  ])('is malformed with %s, but what is missing is said first', async (_, odd) => {
    const rest =
      'tenant_code=acme&app_key=k&channel=web&random=12345678&timestamp=1700000000&app_sign=a&sign=b';
    const url = `${running.service.url}${readPath}`;
    expect((await fetchAnswer(`${url}?${odd}&${rest}`)).envelope.code).toBe(40002);
    const missing = rest.replace('&channel=web', '');
    expect((await fetchAnswer(`${url}?${odd}&${missing}`)).envelope.code).toBe(40001);
  });
});

describe('the body', () => {
  const sendBody = async (
    body: string | Buffer,
    headers: Record<string, string>,
    spoiled = false,
  ) => {
    const draft = draftPassback(running.app, { union_id: 'u1', user_info: '{"a":"b"}' });
    if (spoiled) draft.query.delete('channel');
    const { target } = signDraft(draft);
    return (await fetchAnswer(`${running.service.url}${target}`, { method: 'PUT', headers, body }))
      .envelope;
  };
  const good = 'union_id=u1&user_info=%7B%22a%22%3A%22b%22%7D';

  it.each([
    ['no Content-Type', {}],
    ['an empty one', { 'content-type': '' }],
    ['a charset', { 'content-type': `${formType}; charset=UTF-8` }],
    ['a charset in quotes', { 'content-type': `${formType};boundary=x; Charset="utf8"` }],
    ['another case', { 'content-type': 'Application/X-WWW-Form-Urlencoded' }],
  ])('is taken as a form with %s', async (_, headers) => {
    expect((await sendBody(Buffer.from(good), headers)).code).toBe(200);
  });

  it('is refused in another charset', async () => {
    for (const charset of ['=gbk', '="ISO-8859-1"', '=', ' = gbk']) {
      const { code, msg } = await sendBody(good, {
        'content-type': `${formType}; charset${charset}`,
      });
      expect({ code, msg }).toEqual({ code: 40002, msg: expect.stringContaining('not in UTF-8') });
    }
  });

  it.each([
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    'nonsense',
    'a/b/c',
  ])('is malformed with a Content-Type of %s, but what is missing is said first', async (type) => {
    expect((await sendBody(good, { 'content-type': type })).code).toBe(40002);
    expect((await sendBody(good, { 'content-type': type }, true)).code).toBe(40001);
  });

  it.each([
    ['bytes that are no UTF-8', Buffer.from([...Buffer.from(`${good}&x=`), 0xff])],
    ['a broken escape', `${good}&x=%4`],
    ['an escape of no UTF-8', `${good}&x=%C4%E3`],
    ['a parameter that comes twice', `${good}&user_info=%7B%7D`],
    ['a parameter of the query', `${good}&tenant_code=acme`],
  ])('is malformed with %s', async (_, body) => {
    expect((await sendBody(body, { 'content-type': formType })).code).toBe(40002);
  });

  it('can be UTF-8 without escapes', async () => {
    const draft = draftPassback(running.app, { union_id: 'u1', user_info: '{"name":"张三"}' });
    const { target } = signDraft(draft);
    const answer = await fetchAnswer(running.service.url + target, {
      method: 'PUT',
      headers: { 'content-type': formType },
      body: 'union_id=u1&user_info={"name":"张三"}',
    });
    expect(answer.envelope.code).toBe(200);
  });

  it.each([
    ['announced', { 'content-length': 20_000_000 }],
    ['sent in chunks', {}],
  ])(
    'is refused with 41301 when it is too large, and the client hears of it: %s',
    async (_, length) => {
      const asking = request(`${running.service.url}${passbackPath}`, {
        method: 'PUT',
        headers: { 'content-type': formType, ...length },
      });
      asking.end('x'.repeat(20_000_000));
      const finished = once(asking, 'finish');
      const [answer] = await once(asking, 'response');
      expect(JSON.parse(await text(answer))).toMatchObject({ code: 41301 });
      await finished;
    },
  );

  it.each([
    ['announced', `Content-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n4e20\r\n${'x'.repeat(20_000)}\r\n0\r\n\r\n`],
    [
      'of another type',
      `Content-Type: text/plain\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`,
    ],
  ])('that is too large, %s, leaves the connection to the next request', async (_, rest) => {
    const answers = await exchange(
      `PUT ${passbackPath} HTTP/1.1\r\n${rest}GET /livez HTTP/1.1\r\n${last}`,
    );
    expect(answers.map(({ status }) => status)).toEqual([413, 200]);
  });

  it.each([
    ['GET', readPath, 'Content-Length: 5\r\n\r\nabcde'],
    ['GET', readPath, `Content-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`],
    ['DELETE', passbackPath, 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
  ])('of a %s is skipped', async (method, path, rest) => {
    const answers = await exchange(
      `${method} ${path} HTTP/1.1\r\n${rest}GET /livez HTTP/1.1\r\n${last}`,
    );
    expect(answers.map(({ status }) => status)).toEqual([method === 'GET' ? 400 : 405, 200]);
  });

  it('is asked for where a client waits with it', async () => {
    const socket = openSocket(running.service.url);
    socket.write(
      `PUT ${passbackPath} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n${last}`,
    );
    expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    const answer = nextAnswer(socket);
    socket.write('a=b');
    expect(await answer).toContain('"code":40001');
  });

  it('can be as large as the limit', async () => {
    const draft = draftPassback(running.app, { union_id: 'u1', user_info: '{"a":""}' });
    const length = signDraft(draft).body?.length ?? 0;
    draft.form?.set('user_info', `{"a":"${'x'.repeat(10_000 - length)}"}`);
    expect((await send(running.service.url, draft)).envelope.code).toBe(200);
    draft.form?.set('user_info', `{"a":"${'x'.repeat(10_001 - length)}"}`);
    draft.query.set('random', freshRandom());
    expect((await send(running.service.url, draft)).envelope.code).toBe(41301);
  });
});
