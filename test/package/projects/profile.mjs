import { createServer } from 'node:http';
import { fromProfile } from 'userinfo-exchange/profiles';

const server = createServer((_, answer) =>
  answer.end('{"code":200,"msg":"ok","data":{"union_id":"u1"}}'),
);
server.listen(0, '127.0.0.1', async () => {
  const client = await fromProfile('shop', {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
  });
  process.stdout.write(`${(await client.read({ code: 'c1' })).envelope.msg}\n`);
  await client.close();
  server.close();
});
