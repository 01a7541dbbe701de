const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { UserInfoClient } = require('userinfo-exchange');
const { useTestService } = require('userinfo-exchange/service');

const service = useTestService({ beforeEach, afterAll }, { users: [{ union_id: 'u001' }] });
let client;

beforeEach(() => {
  jest.useFakeTimers();
  client = new UserInfoClient(service.clientOptions);
});

afterEach(async () => {
  jest.useRealTimers();
  await client.close();
});

test('a call is answered under fake timers, also at its second attempt', async () => {
  service.failNext(1, { operation: 'passback', code: 50301 });
  await client.passback({ unionId: 'u001', userInfo: { acme_level: 'gold' } });
  const { data } = await client.read({ code: await service.issueCode('u001') });
  expect(data.extension_info).toEqual({ acme_level: 'gold' });
});

test('a run is finished where fake timers advance by themselves, also if it is throttled', async () => {
  jest.useFakeTimers({ advanceTimers: true });
  service.failNext(2, { operation: 'passback', code: 42901 });
  const rows = [1, 2, 3].map((level) => ({ unionId: 'u001', userInfo: { acme_level: level } }));
  const outcomes = [];
  for await (const { outcome } of client.passbackAll(rows)) outcomes.push(outcome);
  expect(outcomes).toEqual(['ok', 'ok', 'ok']);
});

test('the example of docs/testing.md reaches the limit of a call', async () => {
  const root = join(require.resolve('userinfo-exchange/package.json'), '..');
  const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  const [, example] = /## Fake timers\n.*?```js\n(.*?)```/s.exec(page);
  const names = ['vi', 'service', 'client', 'expect'];
  const run = new Function(...names, `return (async () => { ${example} })();`);
  await run(jest, service, client, expect);
});
