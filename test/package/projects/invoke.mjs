// Calls the handler of a bundled Lambda, as AWS does, with a platform that answers.
import { createServer } from 'node:http';

const server = createServer((request, answer) => {
  request.resume();
  answer.end('{"code":200,"msg":"ok","data":{"union_id":"u1"}}');
});
server.listen(0, '127.0.0.1', async () => {
  const app = { TENANT_CODE: 't', CHANNEL: 'c', APP_KEY: 'k', APP_SECRET: 's' };
  for (const [name, value] of Object.entries(app)) process.env[`USERINFO_${name}`] = value;
  process.env.USERINFO_BASE_URL = `http://127.0.0.1:${server.address().port}`;
  const loaded = await import(new URL(process.argv[2], import.meta.url));
  const { handler } = loaded.handler ? loaded : loaded.default;
  const { statusCode, body } = await handler({ unionId: 'u1', userInfo: { level: 'gold' } });
  const { body: code } = await handler({ unionId: '', userInfo: {} });
  process.stdout.write(`${statusCode} ${body} ${code}\n`);
  process.exit();
});
