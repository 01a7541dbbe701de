import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { run } from '../../src/cli/program.js';

interface Call {
  readonly args: readonly string[];
  /** What a pipe or a file of the shell gives it. */
  readonly stdin: Buffer;
}

interface HereOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Buffer | string;
  /** The width of the terminal that stdout and stderr are; without it they are pipes. */
  readonly columns?: number;
}

interface Done {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process, where a start costs nothing. Paths are those of this process. */
export async function runHere(
  args: readonly string[],
  { env = {}, stdin = '', columns }: HereOptions = {},
): Promise<Done> {
  const printed: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  const stream = (name: keyof typeof printed) => {
    const write = (chunk: Buffer, _: unknown, done: () => void) => {
      printed[name].push(chunk);
      done();
    };
    return Object.assign(new Writable({ write }), columns === undefined ? {} : { isTTY: true, columns });
  };
  const io = {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env,
  };
  const status = await run(args, io, new AbortController().signal);
  const text = (name: keyof typeof printed) => Buffer.concat(printed[name]).toString();
  return { status, stdout: text('stdout'), stderr: text('stderr') };
}

/** The calls of `userinfo` that a POSIX shell makes of a text, which is run but for them. */
async function callsOf(line: string): Promise<Call[]> {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-shell-'));
  try {
    const record = `userinfo() { n=$(ls '${folder}' | wc -l); n=$((100 + n))
      printf '%s\\0' "$@" > '${folder}/'$n.args; cat > '${folder}/'$n.stdin; }`;
    const child = promisify(execFile)('sh', ['-c', `${record}\n${line}`]);
    child.child.stdin?.end();
    await child.catch(() => {}); // the shell has the status of the last command
    const names = readdirSync(folder).sort();
    return names
      .filter((name) => name.endsWith('.args'))
      .map((name) => ({
        args: readFileSync(join(folder, name), 'utf8').split('\0').slice(0, -1),
        stdin: readFileSync(join(folder, name.replace('.args', '.stdin'))),
      }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Runs a line of a shell, in which each `userinfo` is run in this process after the rest of the line, and returns what
 * the last of them did, with what all of them printed to stderr.
 */
export async function typeHere(line: string, options: HereOptions = {}): Promise<Done> {
  const calls = await callsOf(line);
  let done: Done | undefined;
  let stderr = '';
  for (const { args, stdin } of calls) {
    done = await runHere(args, { ...options, stdin });
    stderr += done.stderr;
  }
  if (done === undefined) throw new Error(`no command of userinfo in: ${line}`);
  return { ...done, stderr };
}
