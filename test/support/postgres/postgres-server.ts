import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../free-port.js';
import {
  type Binaries,
  checkReachable,
  findBinaries,
  reachableBinaries,
  serverUser,
  type User,
} from './binaries.js';

/**
 * Stops the server when whoever started it ends or says so: none is left behind. Ends with the
 * server.
 */
const untilToldToStop =
  'exec 3<&0; "$@" 3<&- & pid=$!; { cat <&3 >/dev/null; kill -INT $pid; } 2>/dev/null & wait $pid';

/** The role of the tests. It needs no password; other roles do. */
const role = 'userinfo';

/**
 * What tests can do without, so that they are fast. The order of texts is a language's, as in most
 * databases, and not that of bytes.
 */
const initOptions =
  '--encoding=UTF8 --locale-provider=icu --icu-locale=en-US --locale=C --no-sync'.split(' ');
const testSettings = ['fsync=off', 'max_connections=150'];

/** A PostgreSQL of its own, its data in a temporary folder. */
export class PostgresServer {
  readonly port: number;
  #binaries: Binaries;
  readonly #folder: string;
  readonly #user: User | null;
  readonly #settings: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #process: ChildProcess | null = null;

  private constructor(
    binaries: Binaries,
    folder: string,
    user: User | null,
    port: number,
    settings: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#env = env;
    this.#binaries = binaries;
    this.#folder = folder;
    this.#user = user;
    this.#settings = settings;
    this.port = port;
  }

  /**
   * Makes a server and starts it. `settings` are written as in `postgresql.conf`. Default: the npm
   * package's programs. `env` is that of the server.
   */
  static async create(
    settings: readonly string[] = testSettings,
    programs?: Binaries,
    env: Readonly<Record<string, string>> = {},
  ): Promise<PostgresServer> {
    const binaries = programs ?? (await findBinaries());
    const user = serverUser();
    const folder = await mkdtemp(join(tmpdir(), 'userinfo-postgres-'));
    const server = new PostgresServer(binaries, folder, user, await freePort(), settings, env);
    try {
      await server.#initialise();
      await server.start();
      return server;
    } catch (error) {
      await server.remove();
      throw error;
    }
  }

  /**
   * Restarts it with a standby beside it: a copy of its data, which streaming replication keeps up
   * to date.
   */
  async createStandby(): Promise<PostgresServer> {
    await this.stop();
    const fill = async (data: string) => {
      await promisify(execFile)('cp', ['-a', this.#dataFolder, data]);
      await writeFile(join(data, 'standby.signal'), '');
      await this.start();
    };
    return this.createBeside(fill, [
      `primary_conninfo=host=127.0.0.1 port=${this.port} user=${role}`,
    ]);
  }

  /**
   * Starts a server with the same settings, and further ones, over the data that `fill` puts into a
   * folder.
   */
  async createBeside(
    fill: (dataFolder: string) => Promise<void>,
    further: readonly string[] = [],
  ): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'userinfo-postgres-'));
    const settings = [...this.#settings, ...further];
    const server = new PostgresServer(
      this.#binaries,
      folder,
      this.#user,
      await freePort(),
      settings,
    );
    try {
      await chmod(folder, 0o755);
      await fill(server.#dataFolder);
      if (this.#user !== null) {
        const { uid, gid } = this.#user;
        await promisify(execFile)('chown', ['-R', `${uid}:${gid}`, server.#dataFolder]);
      }
      await server.start();
      return server;
    } catch (error) {
      await server.remove();
      throw error;
    }
  }

  /** The URL of its first database, for the role that needs no password. */
  get url(): string {
    return `postgres://${role}@127.0.0.1:${this.port}/postgres`;
  }

  /** Resolves once it takes connections. */
  async start(): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      `port=${this.port}`,
      ...this.#settings,
    ];
    const args = ['-D', this.#dataFolder, ...settings.flatMap((setting) => ['-c', setting])];
    const started = spawn('sh', ['-c', untilToldToStop, 'sh', this.#binaries.postgres, ...args], {
      ...this.#spawnOptions,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    this.#process = started;
    let log = '';
    const isReady = await new Promise<boolean>((resolve) => {
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (/ready to accept (?:read-only )?connections/.test(log)) resolve(true);
      });
      started.once('close', () => resolve(false));
    });
    started.stderr.removeAllListeners('data').resume();
    if (isReady) return;
    // After kill -9: processes of the one before end a moment later.
    if (!log.includes('is still in use'))
      throw new Error(`PostgreSQL ended while it started:\n${log}`);
    await wait(100);
    await this.start();
  }

  /** Shuts down: connections are ended, what runs is broken off. */
  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    running.stdin?.end();
    await once(running, 'exit');
  }

  /**
   * Sends a signal to each process of the server. It is stopped meanwhile, so that none begins or
   * ends: one that is left over after kill -9 may wait for ever for a lock of another, and keeps
   * the next server from starting.
   */
  async signal(signal: NodeJS.Signals): Promise<void> {
    const [pid] = (await readFile(join(this.#dataFolder, 'postmaster.pid'), 'utf8')).split('\n');
    const ps = async (...args: string[]) => (await promisify(execFile)('ps', args)).stdout.trim();
    process.kill(Number(pid), 'SIGSTOP');
    // A fork that has begun still ends.
    while (!(await ps('-o', 'stat=', '-p', String(pid))).startsWith('T')) await wait(1);
    const children = await ps('-o', 'pid=', '--ppid', String(pid));
    for (const each of [...children.split(/\s+/), pid]) process.kill(Number(each), signal);
  }

  /** Stops it and removes its data. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #dataFolder(): string {
    return join(this.#folder, 'data');
  }

  get #spawnOptions() {
    const { uid, gid } = this.#user ?? {};
    return {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...this.#env },
      uid,
      gid,
    };
  }

  async #initialise(): Promise<void> {
    await mkdir(this.#dataFolder, { mode: 0o700 });
    if (this.#user !== null) {
      await chmod(this.#folder, 0o755);
      await chown(this.#dataFolder, this.#user.uid, this.#user.gid);
      checkReachable(this.#dataFolder, this.#user);
      this.#binaries = reachableBinaries(this.#binaries, this.#user, this.#folder);
    }
    const args = ['-D', this.#dataFolder, '-U', role, ...initOptions];
    await promisify(execFile)(this.#binaries.initdb, args, this.#spawnOptions);
    const rules = [
      `host all,replication ${role} 127.0.0.1/32 trust`,
      'host all all 127.0.0.1/32 scram-sha-256',
      '',
    ];
    await writeFile(join(this.#dataFolder, 'pg_hba.conf'), rules.join('\n'));
  }
}
