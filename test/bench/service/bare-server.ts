import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * What any server of Node has to do at least: read a request, answer with as much as the service
 * does.
 */
const script = `
  const { createServer } = await import('node:http');
  const body = JSON.stringify({ code: 200, msg: 'ok', data: { union_id: 'u1', basic_info: { mobile: '13800000000', chat_nickname: '张三' }, extension_info: { acme_level: 'gold' }, login_device_info: [] } });
  const server = createServer((request, answer) => {
    request.resume().on('end', () => answer.setHeader('content-type', 'application/json').end(body));
  });
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

/** A bare node:http server in a process of its own. */
export function startBareServer(): Promise<ServerProcess> {
  return startServerScript(script);
}

export interface ServerProcess {
  readonly url: string;
  stop(): void;
}

/** Runs a script, a module, that prints the URL of its server. */
export async function startServerScript(script: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(createInterface({ input: child.stdout }), 'line');
  return { url, stop: () => child.kill() };
}
