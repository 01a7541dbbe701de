import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Machine } from '../../support/cli.js';
import { httpServer, type TestServer } from '../../support/raw-server.js';
import { wholeBasicInfo } from '../../support/spec-names.js';

export const secret = 'never-to-be-seen';
export const keys = { tenant_code: 'acme', channel: 'web', app_key: 'app-1' };
export const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const pathOf = (operation: string) => `/api/v1/server/user/${operation}`;

/** How the platform below signs, as a recipe. */
export const signing = {
  app_sign: { message: ['$param:app_key', '$secret'], steps: ['md5'] },
  sign: { message: ['$params', '$secret'], params: { names: false, pairSep: '' }, steps: ['md5'] },
};

/** Parameters with both signatures, unless they are given. */
export function signed(given: Readonly<Record<string, string>>): Record<string, string> {
  const query: Record<string, string> = { app_sign: md5(`${given.app_key}${secret}`), ...given };
  const values = Object.entries(query)
    .filter(([name]) => name !== 'sign')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => value);
  return { sign: md5(values.join('') + secret), ...query };
}

/** An answer in place of the platform's; `reset` ends the connection without one. */
export type Instead = [status: number, body: string, headers?: Record<string, string>] | 'reset';

/** A platform that knows nothing of this project: PHP behind a gateway of its own. */
export class PhpPlatform {
  readonly requests: { method: string; path: string; parameters: Record<string, string> }[] = [];
  /** Uses left of each code that it issued. */
  readonly codes = new Map<string, number>();
  user: Record<string, unknown> = {};
  /** Answers the next requests instead, which are not carried out. */
  instead: ((parameters: Record<string, string>) => Instead | undefined) | null = null;
  /** Answers all that is refused before it looks up sign and code. */
  alike: string | null = null;
  /** Behind the texts of refusals, by the number of the request. */
  behind = (_: number) => '';
  /** Lead of its clock, in milliseconds. */
  ahead = 0;
  /** Whether it stores reserved keys. Otherwise it drops them. */
  storesReserved = false;
  #server: TestServer | undefined;

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** As at the start. */
  reset(): void {
    this.requests.length = 0;
    this.codes.clear();
    this.user = {};
    this.instead = null;
    this.alike = null;
    this.behind = () => '';
    this.ahead = 0;
    this.storesReserved = false;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  async start(): Promise<void> {
    this.#server = await httpServer(({ method, path, query, body: form }, response) => {
      const parameters = Object.fromEntries([
        ...new URLSearchParams(query),
        ...new URLSearchParams(form),
      ]);
      this.requests.push({ method, path, parameters });
      const instead = this.instead?.(parameters);
      if (instead === 'reset') {
        response.destroy();
        return;
      }
      const [status, own, headers] = instead ?? [200, this.#answer(method, path, parameters)];
      const body = /"code":(?:200|1003|1006)\b/.test(own) ? own : (this.alike ?? own);
      const date = new Date(Date.now() + this.ahead).toUTCString();
      response
        .writeHead(status, { 'content-type': 'text/html; charset=UTF-8', date, ...headers })
        .end(body);
    });
  }

  #answer(method: string, path: string, given: Record<string, string>): string {
    const isRead = path === pathOf('user_info_for_third');
    // The gateway has other envelopes.
    if (!isRead && path !== pathOf('passback_user_info'))
      return '{"code":9404,"message":"no route"}';
    if (method !== (isRead ? 'GET' : 'PUT')) return '{"code":9405,"message":"bad method"}';
    const refuse = (code: number, msg: string) =>
      JSON.stringify({ code, msg: msg + this.behind(this.requests.length), data: [] });
    for (const name of [
      ...Object.keys(keys),
      'random',
      'timestamp',
      'app_sign',
      'sign',
      isRead ? 'code' : 'user_info',
    ])
      if (!given[name]) return refuse(1001, 'param error');
    if ((given.random ?? '').length < 8 || given.timestamp?.length !== 10)
      return refuse(1001, 'param error');
    if (given.app_key !== keys.app_key || given.tenant_code !== keys.tenant_code)
      return refuse(-2, 'app error');
    if (Math.abs(Math.floor((Date.now() + this.ahead) / 1000) - Number(given.timestamp)) > 120)
      return refuse(1005, 'time error');
    const { app_sign: _, sign, ...others } = given;
    const { app_sign = '' } = signed(others);
    if (given.app_sign !== app_sign || sign !== signed({ ...others, app_sign }).sign)
      return refuse(1003, 'sign error');
    const succeed = (data: string) => `{"code":200,"msg":"done","data":${data}}`;
    if (!isRead) return this.#write(given, refuse, succeed);
    const left = this.codes.get(given.code ?? '') ?? 0;
    if (left === 0) return refuse(1006, 'code error');
    this.codes.set(given.code ?? '', left - 1);
    const all: Record<string, unknown> = {
      mobile: '13800001111',
      wx_nickname: 'Ming',
      ...this.user,
    };
    const names = given.info_name?.split(',');
    if (names !== undefined) {
      const lists = { device_info: '[]', location_info: {} };
      const values = names.map((name) => [name, { ...all, ...lists }[name] ?? null]);
      return succeed(JSON.stringify({ union_id: 'u1', ...Object.fromEntries(values) }));
    }
    const basic_info = wholeBasicInfo('wx_', { mobile: '13800001111', wx_nickname: 'Ming' });
    const extension_info = Object.keys(this.user).length === 0 ? [] : this.user;
    return succeed(
      JSON.stringify({ union_id: 'u1', basic_info, extension_info, login_device_info: [] }),
    );
  }

  #write(
    { union_id, primary_key, user_info = '' }: Record<string, string>,
    refuse: (code: number, msg: string) => string,
    succeed: (data: string) => string,
  ): string {
    const given = JSON.parse(user_info);
    if (!union_id && (!primary_key || given[primary_key] === undefined))
      return refuse(1001, 'param error');
    if (Object.values(given).some((value) => typeof value === 'object' && value !== null))
      return refuse(1008, 'not flat');
    // It takes reserved keys, though it should not.
    const { union_id: _, channel: __, ...own } = given;
    const all = Object.entries({ ...this.user, ...(this.storesReserved ? given : own) });
    this.user = Object.fromEntries(all.filter(([, value]) => value !== null));
    return succeed(`{"union_id":"${union_id ?? 'u1'}"}`);
  }
}

/**
 * That platform, and a machine with two profiles for it: `php` of a test deployment, `live` of
 * production.
 */
export async function phpWithProfiles() {
  const machine = new Machine();
  const php = new PhpPlatform();
  await php.start();
  const run = (...args: string[]) => machine.run(args, { env: { SECRET: secret } });
  const probe = (...args: string[]) => run('probe', '--pause', '1ms', ...args);
  writeFileSync(join(machine.folder, 'signing.json'), JSON.stringify({ signing }));
  const values = Object.entries(keys).flatMap(([name, value]) => [
    `--${name.replace('_', '-')}`,
    value,
  ]);
  const environments = { php: 'test', live: 'production' };
  for (const [name, environment] of Object.entries(environments)) {
    const where = [
      '--environment',
      environment,
      '--base-url',
      php.url,
      '--platform',
      'signing.json',
    ];
    const own = ['--app-secret-env', 'SECRET', '--yes'];
    const added = await run('profile', 'add', name, ...where, ...values, ...own);
    if (added.status !== 0) throw new Error(added.stderr);
  }
  const close = async () => {
    machine[Symbol.dispose]();
    await php.close();
  };
  return { machine, php, run, probe, close };
}
