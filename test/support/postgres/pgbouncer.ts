import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.js';

/** PgBouncer in transaction mode before a PostgreSQL. */
export class PgBouncer {
  static readonly isInstalled = spawnSync('pgbouncer', ['--version']).status === 0;
  /** The URL of the database, by way of it. */
  readonly url: string;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(url: string, folder: string) {
    this.url = url;
    this.#folder = folder;
  }

  /** `ignored`: start-up parameters that it drops, instead of refusing them. */
  static async before(database: string, ignored: readonly string[] = []): Promise<PgBouncer> {
    const direct = new URL(database);
    const port = await freePort();
    const settings = [
      '[databases]',
      `* = host=${direct.hostname} port=${direct.port} user=${direct.username}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
      'pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 100',
      `ignore_startup_parameters = ${['extra_float_digits', ...ignored].join(',')}`,
    ];
    direct.port = String(port);
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-pgbouncer-'));
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'pgbouncer.ini'), settings.map((line) => `${line}\n`).join(''));
    const pooler = new PgBouncer(direct.href, folder);
    await pooler.start();
    return pooler;
  }

  async start(): Promise<void> {
    // It does not run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    const started = spawn('pgbouncer', [...user, join(this.#folder, 'pgbouncer.ini')]);
    this.#process = started;
    await new Promise<void>((resolve, reject) => {
      started.once('exit', (status) => reject(new Error(`pgbouncer ended with ${status}`)));
      started.stderr.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('process up')) resolve();
      });
    });
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    if (this.#process?.signalCode === null) await once(this.#process, 'exit');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}
