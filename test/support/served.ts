import type { ChildProcess } from 'node:child_process';
import { type Admin, openAdmin } from '../../src/service/index.js';
import { Machine, printedBy } from './cli.js';

/** A machine on which `userinfo serve` runs, with the app of profile `local` and one user. */
export class ServedMachine extends Machine {
  url = '';
  #service: ChildProcess | undefined;
  /** What the service logged. */
  log = '';

  /** `database` is a file of the machine's own unless given. */
  static async create(
    serveArgs: readonly string[] = [],
    database?: string,
  ): Promise<ServedMachine> {
    const machine = new ServedMachine();
    machine.database = database ?? machine.database;
    await machine.serve(serveArgs);
    const app = '--tenant-code acme --channel web --profile local --base-url'.split(' ');
    await machine.admin(['app', 'create', ...app, machine.url]);
    await machine.#withStore((admin) => admin.putUsers([firstUser]));
    return machine;
  }

  /** The process that was started. */
  get pid(): number {
    return this.#service?.pid ?? 0;
  }

  async serve(args: readonly string[] = []): Promise<void> {
    const service = this.start(['serve', '--port', '0', '--database', this.database, ...args]);
    this.#service = service;
    service.stderr?.on('data', (chunk: Buffer) => {
      this.log += chunk.toString();
    });
    this.url = (await printedBy(service, /listening on (http:\S+)/))[1] ?? '';
  }

  /** Runs `userinfo admin` on the service's database; it must succeed. */
  async admin(args: readonly string[], stdin = ''): Promise<string> {
    const { status, stdout, stderr } = await this.run(
      ['admin', ...args, '--database', this.database],
      { stdin },
    );
    if (status !== 0) throw new Error(`admin ${args.join(' ')} ended with ${status}: ${stderr}`);
    return stdout;
  }

  async issueCode(...args: string[]): Promise<string> {
    return (
      await this.admin(['code', 'issue', '--tenant-code', 'acme', '--union-id', 'u001', ...args])
    ).trim();
  }

  /** The record as the store has it. */
  async record(unionId = 'u001'): Promise<Record<string, Record<string, string>>> {
    return JSON.parse(
      await this.admin(['user', 'show', '--tenant-code', 'acme', '--union-id', unionId, '--json']),
    );
  }

  /** Stores users that have nothing but a union ID. */
  putUsers(unionIds: readonly string[]): Promise<void> {
    return this.#withStore(async (admin) => {
      await admin.putUsers(unionIds.map((unionId) => ({ ...emptyUser, union_id: unionId })));
    });
  }

  /** What the store has under `extension_info`, by union ID. */
  extensionInfo(): Promise<Map<string, Readonly<Record<string, string>>>> {
    return this.#withStore(async (admin) => {
      const found = new Map<string, Readonly<Record<string, string>>>();
      for await (const user of admin.listUsers({ tenantCode: 'acme' })) {
        found.set(user.union_id, user.extension_info);
      }
      return found;
    });
  }

  /** Codes for user `u001`, each good once. */
  issueCodes(count: number): Promise<string[]> {
    return this.#withStore(async (admin) => {
      const codes: string[] = [];
      for (let i = 0; i < count; i += 1) {
        codes.push((await admin.issueCode({ tenantCode: 'acme', unionId: 'u001' })).code);
      }
      return codes;
    });
  }

  async #withStore<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = await openAdmin({ database: this.database });
    try {
      return await work(admin);
    } finally {
      await admin.close();
    }
  }

  /** Stops the service as `kill` does, and returns its exit status. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const service = this.#service;
    if (service === undefined || service.exitCode !== null || service.signalCode !== null)
      return null;
    const ended = this.ended();
    service.kill(signal);
    return ended;
  }

  /** The exit status of the process, once it has ended. */
  ended(): Promise<number | null> {
    return new Promise((resolve) => this.#service?.once('exit', resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
    this[Symbol.dispose]();
  }
}

const emptyUser = {
  tenant_code: 'acme',
  basic_info: {},
  extension_info: {},
  login_device_info: [],
};

export const firstUser = {
  tenant_code: 'acme',
  union_id: 'u001',
  basic_info: { mobile: '13800138000', chat_nickname: '张三' },
  extension_info: {},
  login_device_info: [{ brand: 'Acme', os: 'Android', country: '中国', city: '杭州' }],
};
