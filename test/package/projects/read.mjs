import { createServer } from 'node:http';
import { UserInfoClient } from 'userinfo-exchange';

const server = createServer((_, answer) =>
  answer.end('{"code":200,"msg":"ok","data":{"union_id":"u1"}}'),
);
server.listen(0, '127.0.0.1', async () => {
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const app = { tenantCode: 't', channel: 'c', appKey: 'k', appSecret: 's' };
  const client = new UserInfoClient({ baseUrl, ...app });
  process.stdout.write(`${(await client.read({ code: 'c1' })).envelope.msg}\n`);
  await client.close();
  server.close();
});
