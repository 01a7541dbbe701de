// Starts the server that `next build` made, and prints what its route answers.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const platform = createServer(({ url }, answer) => {
  const isRefused = url.includes('refused');
  answer.end(isRefused ? '{"code":40106,"msg":"no"}' : '{"code":200,"msg":"ok","data":{"union_id":"u1"}}');
});
await new Promise((listening) => platform.listen(0, '127.0.0.1', listening));
const USERINFO_BASE_URL = `http://127.0.0.1:${platform.address().port}`;
const next = spawn(
  process.execPath,
  ['node_modules/next/dist/bin/next', 'start', 'next-app', '--hostname', '127.0.0.1', '--port', '0'],
  { env: { ...process.env, USERINFO_BASE_URL }, stdio: ['ignore', 'pipe', 'inherit'] },
);
let output = '';
for await (const chunk of next.stdout) {
  output += chunk;
  const [url] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(output) ?? [];
  if (url === undefined || !output.includes('Ready')) continue;
  process.stdout.write(await (await fetch(`${url}/read`)).text());
  break;
}
next.kill();
process.exit();
