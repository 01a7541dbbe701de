// A test suite against the platform's service in the same process, with vitest; jest has the same
// hooks.

import { UserInfoClient } from 'userinfo-exchange';
import { useTestService } from 'userinfo-exchange/service';
import { afterAll, beforeEach, expect, test } from 'vitest';

const users = [{ union_id: 'u001', basic_info: { mobile: '13800138000' } }];
const service = useTestService({ beforeEach, afterAll }, { users });
const gold = { unionId: 'u001', userInfo: { acme_level: 'gold' } };

const newClient = () => new UserInfoClient(service.clientOptions);

test('a level that is written can be read', async () => {
  await using client = newClient();
  await client.passback(gold);
  const { data } = await client.read({
    code: await service.issueCode('u001'),
    infoNames: ['acme_level'],
  });
  expect(data.acme_level).toBe('gold');
});

test('a code works once', async () => {
  await using client = newClient();
  const code = await service.issueCode('u001');
  await client.read({ code });
  await expect(client.read({ code })).rejects.toMatchObject({ means: 'codeNotValid' });
});

test('a passback survives a service that is away for a moment', async () => {
  await using client = newClient();
  service.failNext(2, { operation: 'passback', code: 50301 });
  await client.passback(gold);
  expect(service.requests.map(({ answer }) => answer?.httpStatus)).toEqual([503, 503, 200]);
});

test('an answer that is lost does not lose a level', async () => {
  await using client = newClient();
  service.failNext(1, { cut: 'after' });
  await expect(client.passback(gold, { attempts: 1 })).rejects.toMatchObject({
    code: 'NO_ANSWER',
    received: true,
    retryable: true,
  });
  await client.passback(gold);
});

test('a gateway that answers with a page is no answer of the platform', async () => {
  await using client = newClient();
  service.stub({
    httpStatus: 502,
    headers: { 'content-type': 'text/html' },
    body: '<h1>Bad gateway</h1>',
  });
  await expect(client.passback(gold)).rejects.toMatchObject({
    reason: 'not-envelope',
    httpStatus: 502,
  });
});

test('a code that nobody used for five minutes has expired', async () => {
  await using client = newClient();
  const code = await service.issueCode('u001');
  await service.advanceClock(301_000);
  await expect(client.read({ code })).rejects.toMatchObject({ means: 'codeNotValid' });
});

test('what was sent is in the requests, decoded', async () => {
  await using client = newClient();
  await client.passback(gold);
  const [sent] = service.requests;
  expect(sent).toMatchObject({ operation: 'passback', userInfo: { acme_level: 'gold' } });
  expect(sent?.parameters).toMatchObject({ union_id: 'u001', channel: 'web' });
});
