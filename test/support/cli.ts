import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';

const root = join(import.meta.dirname, '..', '..');
const bin = join(root, 'bin', 'userinfo.cjs');
const builtProgram = join(root, 'dist', 'cli', 'main.cjs');

/** What a finished command left behind. */
export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout, byte for byte. */
  readonly bytes: Buffer;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** The command that starts the program, with its arguments, such as `unshare`. */
  readonly under?: readonly string[];
  /**
   * Whether its streams are a terminal of 80 columns, on which nothing is typed: `stdout` is all
   * that it shows.
   */
  readonly shows?: boolean;
}

/**
 * A user's machine: a config folder of its own, and the built program. Nothing of ours leaks in
 * from outside.
 */
export class Machine implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'userinfo-test-'));
  readonly configFolder = join(this.folder, 'config');
  readonly profileFile = join(this.configFolder, 'profiles.json');
  /** What `--database` is given. */
  database = join(this.folder, 'userinfo.db');
  /** Everything that any command printed. */
  printed = '';
  /**
   * Whether each command has a process of its own: for what only its end closes, descriptors,
   * modules, memory.
   */
  apart = false;

  /** Writes a file, an object as JSON, and returns its path. */
  readonly file = (name: string, content: unknown): string => {
    const path = join(this.folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  /** Starts a command, and leaves it running. */
  start(args: readonly string[], { env = {}, under = [] }: RunOptions = {}): ChildProcess {
    const [command = process.execPath, ...rest] = [...under, process.execPath, bin, ...args];
    return spawn(command, rest, { cwd: this.folder, env: this.#environment(env) });
  }

  /**
   * Runs a command of the built program to its end: in the process of the test, which takes a tenth
   * of the time of a new one, unless the machine is `apart`, or the command beside another or
   * `under` one.
   */
  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const isApart = this.apart || options.under !== undefined || Place.isTaken;
    if (!isApart) return this.#runHere(args, options);
    const child = this.start(args, options);
    child.stdin?.on('error', () => {}); // a command may end without reading
    child.stdin?.end(options.stdin ?? '');
    return this.#finish(child);
  }

  /** Runs a command to its end, and reports what the kernel counted. */
  async measure(
    args: readonly string[],
    { env = {} }: RunOptions = {},
  ): Promise<
    Finished & { readonly usage: { readonly userMs: number; readonly maximumBytes: number } }
  > {
    const report = join(this.folder, 'usage.json');
    const script = [
      'import json, resource, subprocess, sys',
      'status = subprocess.run(sys.argv[2:]).returncode',
      'used = resource.getrusage(resource.RUSAGE_CHILDREN)',
      'usage = {"userMs": used.ru_utime * 1000, "maximumBytes": used.ru_maxrss * 1024}',
      'json.dump(usage, open(sys.argv[1], "w"))',
      'sys.exit(status)',
    ].join('\n');
    const command = ['-c', script, report, process.execPath, bin, ...args];
    const options = { cwd: this.folder, env: this.#environment(env) };
    const finished = await this.#finish(
      spawn('python3', command, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    return { ...finished, usage: JSON.parse(readFileSync(report, 'utf8')) };
  }

  /** Runs a command line as it would be pasted into a shell, `userinfo` being the built program. */
  shell(
    line: string,
    { env = {} }: RunOptions = {},
    shell: 'sh' | 'bash' | 'zsh' | 'fish' = 'sh',
  ): Promise<Finished> {
    const script =
      shell === 'fish'
        ? `function userinfo; "${process.execPath}" "${bin}" $argv; end\n${line}`
        : `userinfo() { "${process.execPath}" "${bin}" "$@"; }\n${line}`;
    return this.#finish(
      spawn(shell, ['-c', script], {
        cwd: this.folder,
        env: this.#environment(env),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  }

  /**
   * Runs a line of a shell in which each `userinfo` is run by `run`, after the rest of the line,
   * and returns what the last of them did, with what all of them printed to stderr.
   */
  async type(line: string, options: Pick<RunOptions, 'env'> = {}): Promise<Finished> {
    const calls = mkdtempSync(join(this.folder, 'calls-'));
    // Each call leaves its arguments and its standard input, in their order.
    writeFileSync(join(calls, 'count'), '100\n');
    const record = `userinfo() { read -r n < '${calls}/count'; n=$((n + 1)); echo $n > '${calls}/count'
      printf '%s\\0' "$@" > '${calls}/'$n.args; cat > '${calls}/'$n.stdin; }`;
    const script = `${record}\n${line}`;
    spawnSync('sh', ['-c', script], { cwd: this.folder, env: this.#environment({}), input: '' });
    let done: Finished | undefined;
    let stderr = '';
    for (const name of readdirSync(calls).sort()) {
      if (!name.endsWith('.args')) continue;
      const args = readFileSync(join(calls, name), 'utf8').split('\0').slice(0, -1);
      const stdin = readFileSync(join(calls, name.replace('.args', '.stdin')));
      done = await this.run(args, { ...options, stdin });
      stderr += done.stderr;
    }
    if (done === undefined) throw new Error(`no command of userinfo in: ${line}`);
    return { ...done, stderr };
  }

  /**
   * Runs a command on a terminal, typing each answer when its prompt is shown; `null` is Ctrl-C.
   */
  onTerminal(
    args: readonly string[],
    dialogue: readonly (readonly [prompt: string, answer: string | null])[],
    { env = {} }: RunOptions = {},
  ): Promise<Finished> {
    return this.#onPseudoTerminal([process.execPath, bin, ...args], dialogue, env);
  }

  /** Types lines into an interactive bash in which `userinfo` is the built program. */
  inBash(lines: readonly string[]): Promise<Finished> {
    const settings = join(this.folder, 'bashrc');
    writeFileSync(settings, `PS1='ready> '\nuserinfo() { "${process.execPath}" "${bin}" "$@"; }\n`);
    const dialogue = [...lines, 'exit'].map((line) => ['ready> ', line] as const);
    return this.#onPseudoTerminal(['bash', '--rcfile', settings, '-i'], dialogue, {});
  }

  async #runHere(
    args: readonly string[],
    { env = {}, stdin = '', shows = false }: RunOptions,
  ): Promise<Finished> {
    const commandEnv = this.#environment(env);
    using _ = new Place(this.folder, commandEnv);
    const terminal = shows ? { isTTY: true, columns: 80 } : {};
    const stdout = Object.assign(new Captured(), terminal);
    const stderr = shows ? stdout : new Captured();
    const input = stdin.length > 0 ? [Buffer.from(stdin)] : [];
    const { main } = createRequire(import.meta.url)(builtProgram);
    const status = await new Promise<number>((resolve, reject) => {
      const host = Object.assign(new EventEmitter(), {
        argv: [process.execPath, bin, ...args],
        env: commandEnv,
        stdin: Object.assign(Readable.from(input), terminal),
        stdout,
        stderr,
        exit: resolve,
      });
      main(host).catch(reject);
    });
    return this.#keep(status, stdout.bytes, shows ? Buffer.of() : stderr.bytes);
  }

  #onPseudoTerminal(
    argv: readonly string[],
    dialogue: readonly (readonly [prompt: string, answer: string | null])[],
    env: Readonly<Record<string, string>>,
  ): Promise<Finished> {
    const script = join(import.meta.dirname, 'terminal.py');
    const job = JSON.stringify([argv, dialogue]);
    return this.#finish(
      spawn('python3', [script, job], { cwd: this.folder, env: this.#environment(env) }),
    );
  }

  #environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.folder,
      USERINFO_CONFIG_DIR: this.configFolder,
      ...env,
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #finish(child: ChildProcess): Promise<Finished> {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return this.#keep(status, Buffer.concat(stdout), Buffer.concat(stderr));
  }

  #keep(status: number | null, bytes: Buffer, messages: Buffer): Finished {
    const finished = { status, stdout: bytes.toString(), stderr: messages.toString(), bytes };
    this.printed += finished.stdout + finished.stderr;
    return finished;
  }
}

/** The working folder and the environment of a command that runs in the process of the test. */
class Place implements Disposable {
  static isTaken = false;
  readonly #folder = process.cwd();
  readonly #environment = { ...process.env };

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    Place.isTaken = true;
    process.chdir(folder);
    // The folders of the system are looked up below the home folder of the start otherwise.
    replaceEnvironment({
      XDG_CONFIG_HOME: join(folder, '.config'),
      XDG_DATA_HOME: join(folder, '.local', 'share'),
      XDG_CACHE_HOME: join(folder, '.cache'),
      ...env,
    });
  }

  [Symbol.dispose](): void {
    process.chdir(this.#folder);
    replaceEnvironment(this.#environment);
    Place.isTaken = false;
  }
}

function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

class Captured extends Writable {
  readonly #chunks: Buffer[] = [];

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}

/** The options that give a profile its deployment, but for the secret. */
export const deploymentFlags = (url: string) =>
  `--base-url ${url} --tenant-code acme --channel web --app-key a1`.split(' ');

/** The variables that give a command its deployment, without a profile. */
export const deploymentVariables = (url: string) => ({
  USERINFO_BASE_URL: url,
  USERINFO_TENANT_CODE: 't',
  USERINFO_CHANNEL: 'c',
  USERINFO_APP_KEY: 'k',
  USERINFO_APP_SECRET: 's',
});

/** Waits until a started command has printed a line that matches, and returns the match. */
export function printedBy(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = '';
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match !== null) resolve(match);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', () => reject(new Error(`ended before it printed ${pattern}: ${text}`)));
  });
}
