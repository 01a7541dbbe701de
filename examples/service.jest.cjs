// A test suite against the platform's service in the same process, with Jest, in its environment
// "node": name it service.test.js, or .cjs in a package of ES modules.
/* global afterAll, beforeEach, expect, test */

const { UserInfoClient } = require('userinfo-exchange');
const { useTestService } = require('userinfo-exchange/service');

const users = [{ union_id: 'u001', basic_info: { mobile: '13800138000' } }];
const service = useTestService({ beforeEach, afterAll }, { users });

test('a level that is written can be read', async () => {
  const client = new UserInfoClient(service.clientOptions);
  await client.passback({ unionId: 'u001', userInfo: { acme_level: 'gold' } });
  const code = await service.issueCode('u001');
  const { data } = await client.read({ code, infoNames: ['acme_level'] });
  expect(data.acme_level).toBe('gold');
  await client.close();
});

test('a code works once', async () => {
  const client = new UserInfoClient(service.clientOptions);
  const code = await service.issueCode('u001');
  await client.read({ code });
  await expect(client.read({ code })).rejects.toMatchObject({ means: 'codeNotValid' });
  await client.close();
});
