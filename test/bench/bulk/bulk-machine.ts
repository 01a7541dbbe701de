import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Machine } from '../../support/cli.js';

/** Whom the rows are sent to, and as whom: what the scripts of this folder take first. */
export interface Target {
  readonly url: string;
  readonly app: readonly [tenantCode: string, channel: string, appKey: string, appSecret: string];
}

/** An app that no service knows: the trivial server takes it all the same. */
export const anyApp: Target['app'] = ['acme', 'web', 'app_bench', 'secret_bench'];

/** Runs a script of this folder in a process of its own; gives the number that it prints. */
export async function runScript(
  name: string,
  { url, app }: Target,
  ...others: readonly string[]
): Promise<number> {
  const command = name.endsWith('.py') ? 'python3' : process.execPath;
  const { stdout } = await promisify(execFile)(command, [
    join(import.meta.dirname, name),
    url,
    ...app,
    ...others,
  ]);
  return Number(stdout);
}

/** Whether Python has a module here. */
export function hasPythonModule(name: string): boolean {
  return spawnSync('python3', ['-c', `import ${name}`]).status === 0;
}

/** How a run of the built program went. */
export interface MeasuredRun {
  /** While it sent, as it says itself. */
  readonly perSecond: number;
  /** From its start to its end: the check of all rows is in it. */
  readonly perSecondInAll: number;
  /** In MB. */
  readonly peakMemory: number;
}

/** Passes the rows of a file back with the built program, journal and results on. Throws where one is not ok. */
export function passBack(machine: Machine, file: string, target: Target): Promise<MeasuredRun> {
  return runRows(machine, ['passback', '--from', file], target);
}

/** Reads with the codes of a file, as `passBack` passes back. */
export function readWithCodes(machine: Machine, file: string, target: Target): Promise<MeasuredRun> {
  return runRows(machine, ['read', '--from', file], target);
}

async function runRows(
  machine: Machine,
  command: readonly string[],
  { url, app }: Target,
): Promise<MeasuredRun> {
  const [tenant, channel, key, secret] = app;
  const env = {
    USERINFO_TENANT_CODE: tenant,
    USERINFO_CHANNEL: channel,
    USERINFO_APP_KEY: key,
    USERINFO_APP_SECRET: secret,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'print-peak-memory.mjs')}`,
  };
  const startedAt = performance.now();
  const args = [...command, '--base-url', url, '--restart', '--json'];
  const { status, stdout, stderr } = await machine.run(args, { env });
  const seconds = (performance.now() - startedAt) / 1000;
  if (status !== 0) throw new Error(`ended with ${status}: ${stderr}`);
  const { ok, duration_ms } = JSON.parse(stdout);
  const [, peak] = /peak memory (\d+) kB/.exec(stderr) ?? [];
  return {
    perSecond: (ok / duration_ms) * 1000,
    perSecondInAll: ok / seconds,
    peakMemory: Number(peak) / 1024,
  };
}
