import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestFields } from '../../src/core/profiles/profile.js';
import { InvalidInputError, UserInfoClient } from '../../src/index.js';
import { Machine } from './cli.js';
import { httpServer, writtenBy } from './raw-server.js';

/** A read or a passback, as somebody gives it; settings that are absent are usual ones. */
export interface RequestInput {
  readonly tenant_code?: string;
  readonly channel?: string;
  readonly app_key?: string;
  /** A read has a code. */
  readonly code?: string;
  readonly scope?: string;
  readonly info_names?: readonly string[];
  readonly union_id?: string;
  readonly primary_key?: string;
  /** The members of `user_info`, in their order. */
  readonly user_info?: readonly (readonly [key: string, value: unknown])[];
}

/** What became of it. */
export interface RequestOutcome {
  /** The parameters of each request that the platform received. */
  readonly received: readonly Readonly<Record<string, string>>[];
  /** Why nothing was sent; `null` if it was. */
  readonly refused: string | null;
  /** What the program said on stderr. */
  readonly said: string;
}

/**
 * A server that knows nothing of the product: it keeps the parameters of each request, and accepts
 * all of them.
 */
export async function plainPlatform() {
  const received: Record<string, string>[] = [];
  const { url, close } = await httpServer((request, response) => {
    received.push(Object.fromEntries([request.query, request.body].flatMap(decodePairs)));
    response.end(writtenBy(request));
  });
  return { url, received, close };
}

function decodePairs(encoded: string): [name: string, value: string][] {
  const decode = (text = '') => decodeURIComponent(text.replaceAll('+', ' '));
  const pairs = encoded.split('&').filter((pair) => pair !== '');
  return pairs.map((pair) => pair.split('=')).map(([name, value]) => [decode(name), decode(value)]);
}

/** The ways by which a request is given. */
export const ways = ['arguments', 'stdin', 'variables', 'profile', 'CSV', 'NDJSON', 'SDK'] as const;
export type Way = (typeof ways)[number];

const isFile = (way: Way) => way === 'CSV' || way === 'NDJSON';
const settings = requestFields.filter((field) => field !== 'base_url');
const usual = { tenant_code: 't', channel: 'c', app_key: 'k' };

/**
 * The parameters that the platform receives of a request: without white space around an argument
 * that is an ID.
 */
export function expectedOf(way: Way, input: RequestInput): Record<string, string> {
  const { info_names, user_info, ...ids } = { ...usual, ...input };
  const isCut = (name: string) =>
    way !== 'SDK' &&
    name !== 'primary_key' &&
    !(isFile(way) && ['code', 'union_id'].includes(name));
  const cut = Object.entries(ids).map(([name, text]) => [name, isCut(name) ? text.trim() : text]);
  return {
    ...Object.fromEntries(cut),
    ...(info_names && { info_name: info_names.join() }),
    ...(user_info && { user_info: jsonOf(user_info) }),
  };
}

/** Gives requests to a platform by each way, one at a time. */
export class InputSender implements Disposable {
  readonly #machine = new Machine();
  readonly #platform: Awaited<ReturnType<typeof plainPlatform>>;

  constructor(platform: Awaited<ReturnType<typeof plainPlatform>>) {
    this.#platform = platform;
  }

  [Symbol.dispose](): void {
    this.#machine[Symbol.dispose]();
  }

  async send(way: Way, input: RequestInput): Promise<RequestOutcome> {
    const start = this.#platform.received.length;
    const { refused, said } =
      way === 'SDK' ? await this.#bySdk(input) : await this.#byCommand(way, input);
    const received = this.#platform.received
      .slice(start)
      .map(({ app_sign, sign, random, timestamp, ...rest }) => rest);
    return { received, refused, said };
  }

  async #byCommand(way: Exclude<Way, 'SDK'>, input: RequestInput) {
    const { code, info_names = [], user_info = [] } = input;
    const operation = code === undefined ? 'passback' : 'read';
    const deployment = [
      `--base-url=${this.#platform.url}`,
      ...flagsOf({ ...usual, ...input }, settings),
    ];
    const target = flagsOf(input, ['scope', 'union_id', 'primary_key']);
    const operands = code === undefined ? user_info.map(pairOf) : [code, ...info_names];
    switch (way) {
      case 'arguments':
        return this.#run([operation, ...deployment, ...target, '--', ...operands]);
      case 'stdin': {
        const rest = code === undefined ? ['--user-info', '-'] : ['--', '-', ...info_names];
        return this.#run([operation, ...deployment, ...target, ...rest], code ?? jsonOf(user_info));
      }
      case 'variables':
        return this.#run(
          [operation, ...target, '--', ...operands],
          '',
          variablesOf({ ...usual, ...input }, this.#platform.url),
        );
      case 'profile': {
        rmSync(this.#machine.configFolder, { recursive: true, force: true });
        const added = await this.#run([
          'profile',
          'add',
          'p',
          ...deployment,
          '--app-secret-env',
          'USERINFO_APP_SECRET',
        ]);
        if (added.refused !== null) return added;
        const sent = await this.#run([operation, ...target, '--', ...operands]);
        return { ...sent, said: added.said + sent.said };
      }
      case 'CSV':
      case 'NDJSON': {
        const inCommon = flagsOf(input, ['scope', 'primary_key']);
        const isByBoth = input.union_id !== undefined && input.primary_key !== undefined;
        if (isByBoth) inCommon.push('--union-id-column=union_id');
        const file = this.#fileOf(way, input);
        return this.#run([
          'bulk',
          operation,
          ...deployment,
          ...inCommon,
          '--',
          file,
          ...info_names,
        ]);
      }
    }
  }

  /** A file with one row. */
  #fileOf(way: 'CSV' | 'NDJSON', { code, union_id, user_info = [] }: RequestInput): string {
    const row = [...Object.entries({ code, union_id }), ...user_info].filter(
      ([, value]) => value !== undefined,
    );
    const line = (cells: readonly unknown[]) => `${cells.map(cellOf).join()}\r\n`;
    const csv = line(row.map(([key]) => key)) + line(row.map(([, value]) => value));
    const path = join(this.#machine.folder, way === 'CSV' ? 'rows.csv' : 'rows.ndjson');
    for (const end of ['.results.ndjson', '.userinfo-journal']) rmSync(path + end, { force: true });
    writeFileSync(path, way === 'CSV' ? csv : `${jsonOf(row)}\n`);
    return path;
  }

  async #run(args: readonly string[], stdin = '', env: Readonly<Record<string, string>> = {}) {
    const all = { USERINFO_APP_SECRET: 's', ...env };
    const { status, stderr } = await this.#machine.run(args, { stdin, env: all });
    if (status !== 0 && status !== 2)
      throw new Error(`${args.join(' ')} ends with ${status}: ${stderr}`);
    return { refused: status === 2 ? stderr : null, said: stderr };
  }

  async #bySdk({
    code,
    scope,
    info_names,
    union_id,
    primary_key,
    user_info = [],
    ...input
  }: RequestInput) {
    const { tenant_code, channel, app_key } = { ...usual, ...input };
    try {
      await using client = new UserInfoClient({
        baseUrl: this.#platform.url,
        tenantCode: tenant_code,
        channel,
        appKey: app_key,
        appSecret: 's',
      });
      const read = { code, scope, infoNames: info_names };
      const passback = {
        unionId: union_id,
        primaryKey: primary_key,
        userInfo: Object.fromEntries(user_info),
      };
      await (code === undefined ? client.passback(passback as never) : client.read(read as never));
      return { refused: null, said: '' };
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      return { refused: error.message, said: '' };
    }
  }
}

function flagsOf(input: RequestInput, names: readonly (keyof RequestInput)[]): string[] {
  return names
    .filter((name) => input[name] !== undefined)
    .map((name) => `--${name.replaceAll('_', '-')}=${input[name]}`);
}

function variablesOf(input: RequestInput, url: string): Record<string, string> {
  const variables = settings.map((name) => [`USERINFO_${name.toUpperCase()}`, input[name] ?? '']);
  return { USERINFO_BASE_URL: url, ...Object.fromEntries(variables) };
}

/** A pair, by the rules of `userinfo passback --help`. */
function pairOf([key, value]: readonly [string, unknown]): string {
  const name = key.replace(
    /(\\*)([=:]|$)/g,
    (_, slashes: string, sign: string) => slashes + slashes + (sign && `\\${sign}`),
  );
  if (typeof value !== 'string' || value === '') return `${name}:=${JSON.stringify(value)}`;
  return `${name}=${value.replace(/^(\\*@)/, '\\$1')}`;
}

/** A cell, by RFC 4180. */
const cellOf = (value: unknown) => `"${String(value).replaceAll('"', '""')}"`;

/** JSON with the members in their order, also of keys that look like numbers. */
function jsonOf(members: readonly (readonly [string, unknown])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`;
}
