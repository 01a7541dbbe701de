// A test suite against the platform's service in the same process, with the test runner of Node.js:
// node --test service.node-test.mjs

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { UserInfoClient } from 'userinfo-exchange';
import { useTestService } from 'userinfo-exchange/service';

const users = [{ union_id: 'u001', basic_info: { mobile: '13800138000' } }];
const service = useTestService({ beforeEach, after }, { users });

test('a level that is written can be read', async () => {
  const client = new UserInfoClient(service.clientOptions);
  await client.passback({ unionId: 'u001', userInfo: { acme_level: 'gold' } });
  const code = await service.issueCode('u001');
  const { data } = await client.read({ code, infoNames: ['acme_level'] });
  assert.equal(data.acme_level, 'gold');
  await client.close();
});

test('a code works once', async () => {
  const client = new UserInfoClient(service.clientOptions);
  const code = await service.issueCode('u001');
  await client.read({ code });
  await assert.rejects(client.read({ code }), { means: 'codeNotValid' });
  await client.close();
});
