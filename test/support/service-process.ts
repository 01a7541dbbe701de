import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const service = new URL('../../dist/service/index.js', import.meta.url).href;

/** The built service in a process of its own, which can be killed. */
export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
}

/** Starts services on one database, all in the same moment. */
export async function startServiceProcesses(
  database: string,
  count: number,
): Promise<ServiceProcess[]> {
  const script = `
    const { createService } = await import(${JSON.stringify(service)});
    console.log('ready');
    process.stdin.once('data', async () => {
      console.log((await createService({ database: ${JSON.stringify(database)} })).url);
    });
  `;
  const started = Array.from({ length: count }, () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return { child, lines: createInterface({ input: child.stdout }) };
  });
  const nextLines = () => Promise.all(started.map(({ child, lines }) => nextLine(child, lines)));
  await nextLines();
  for (const { child } of started) child.stdin.write('\n');
  const urls = await nextLines();
  return started.map(({ child }, index) => ({ child, url: urls[index] ?? '' }));
}

async function nextLine(
  child: ChildProcess,
  lines: ReturnType<typeof createInterface>,
): Promise<string> {
  const ended = new AbortController();
  child.once('exit', () => ended.abort(new Error('the service did not start')));
  const [line] = await once(lines, 'line', { signal: ended.signal });
  return line;
}
