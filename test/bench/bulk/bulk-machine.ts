import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Machine } from '../../support/cli.js';

/** Whom the rows are sent to, and as whom: the first arguments of each script in this folder. */
export interface Target {
  readonly url: string;
  readonly app: readonly [tenantCode: string, channel: string, appKey: string, appSecret: string];
}

/** An app that no service knows: the trivial server takes it all the same. */
export const anyApp: Target['app'] = ['acme', 'web', 'app_bench', 'secret_bench'];

/** What a process took, from its start to its end. */
export interface Usage {
  readonly seconds: number;
  /** User and system time of all its threads; NaN for what is not Node.js. */
  readonly cpuSeconds: number;
  /** In MB. */
  readonly peakMemory: number;
}

const nodeOptions = { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'print-usage.mjs')}` };

/** Runs a script of this folder. Throws where it fails. */
export function runScript(
  name: string,
  { url, app }: Target,
  ...others: readonly string[]
): Promise<Usage> {
  const command = name.endsWith('.py') ? 'python3' : process.execPath;
  const args = [join(import.meta.dirname, name), url, ...app, ...others];
  const env = { PATH: process.env.PATH, ...nodeOptions };
  return measure(() => promisify(execFile)(command, args, { env }));
}

/** Whether Python has a module here. */
export function hasPythonModule(name: string): boolean {
  return spawnSync('python3', ['-c', `import ${name}`]).status === 0;
}

/**
 * Runs the built program over the rows of a file, journal and results on; `command` is `bulk
 * passback rows.csv`, say. Throws where one of them is not ok.
 */
export async function runRows(
  machine: Machine,
  command: readonly string[],
  { url, app }: Target,
): Promise<Usage> {
  const [tenant, channel, key, secret] = app;
  const env = {
    USERINFO_TENANT_CODE: tenant,
    USERINFO_CHANNEL: channel,
    USERINFO_APP_KEY: key,
    USERINFO_APP_SECRET: secret,
    ...nodeOptions,
  };
  machine.apart = true;
  const usage = await measure(async () => {
    const finished = await machine.run([...command, '--base-url', url, '--restart'], { env });
    if (finished.status !== 0) throw new Error(`ended with ${finished.status}: ${finished.stderr}`);
    return finished;
  });
  if (Number.isNaN(usage.cpuSeconds)) throw new Error('the program did not say what it took');
  return usage;
}

async function measure(run: () => Promise<{ readonly stderr: string }>): Promise<Usage> {
  const startedAt = performance.now();
  const { stderr } = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const [, peak, cpu] = /usage: (\d+) kB, (\d+) us/.exec(stderr) ?? [];
  return { seconds, cpuSeconds: Number(cpu) / 1e6, peakMemory: Number(peak) / 1024 };
}
