import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { PlatformFile } from '../../../src/index.js';
import type { Machine } from '../../support/cli.js';

/** What random_platform.py says about itself, and about the user of the client. */
export interface Truth {
  readonly port: number;
  /** Result code, text and HTTP status of each meaning that the platform has. */
  readonly codes: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, string>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly order: readonly string[];
  readonly window: number | 'unlimited';
  readonly ahead: number | 'unlimited';
  readonly uses: number | 'unlimited';
  readonly caller: {
    readonly mistake: string | null;
    readonly codes: number;
    readonly names_user: boolean;
    readonly stale: number;
  };
  /** The codes that the user of the client has. */
  readonly issued: readonly string[];
  /** The records of users before the probe. */
  readonly before: Records;
  readonly [trait: string]: unknown;
}

type Records = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The report of `userinfo probe --json`. */
export interface Report {
  readonly platform: PlatformFile;
  readonly refusals: readonly {
    readonly request: string;
    readonly means: string;
    readonly unclear: string | null;
  }[];
  readonly points: readonly {
    readonly field: string;
    readonly found: boolean;
    readonly value?: unknown;
    readonly detail: string;
  }[];
  readonly breaks: readonly { readonly section: string; readonly what: string }[];
  readonly doubts: readonly string[];
}

export const secret = 'Zq7-secret-of-app-01';

/** A platform that is running. */
export class RandomPlatform implements Disposable {
  readonly truth: Truth;
  readonly #child: ChildProcess;

  private constructor(truth: Truth, child: ChildProcess) {
    this.truth = truth;
    this.#child = child;
  }

  /** Starts the platform with this number; `fixed` are traits that are not drawn. */
  static async start(seed: number, fixed: object): Promise<RandomPlatform> {
    const script = `${import.meta.dirname}/random_platform.py`;
    const child = spawn('python3', [script, String(seed), JSON.stringify(fixed)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return new RandomPlatform(JSON.parse(line), child);
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

/** The counters and the records of a platform. A query issues a code, or ends limits. */
export async function controlOf({ port }: Truth, query = '') {
  const answer = await fetch(`http://127.0.0.1:${port}/_control?${query}`);
  return (await answer.json()) as { readonly requests: number; readonly records: Records };
}

/** The names that the platform has for what a meaning of this project says. */
const namesOf: Readonly<Record<string, readonly string[]>> = {
  missingParameter: ['missingParameter', 'malformedParameter'],
  malformedParameter: ['malformedParameter', 'missingParameter'],
  appNotAllowed: ['appNotAllowed', 'wrongChannel', 'noPermission', 'unknownAppKey'],
  codeNotValid: ['codeNotValid', 'codeUsedUp'],
};

/** The names of refusals for which the platform has a code with that meaning. */
function namesOfCode(truth: Truth, means: string, code: number): string[] {
  const names = means === 'tooManyRequests' ? limitNames(truth) : (namesOf[means] ?? [means]);
  return names.filter((name) => truth.codes[name] === code);
}

function limitNames(truth: Truth): string[] {
  const names = ['writeLimit'];
  if (truth.limit !== null) names.push('limit');
  if (truth.block !== null) names.push('blocked');
  return names;
}

/** What a saved table of result codes says that is not so. */
function falseCodes(truth: Truth, { platform }: Report) {
  const wrong: string[] = [];
  let count = 0;
  for (const [text, entry] of Object.entries(platform.result_codes ?? {})) {
    const code = Number(text);
    const { means = [], msg, http_status } = typeof entry === 'string' ? { means: entry } : entry;
    for (const name of [means].flat()) {
      count += 1;
      const names = namesOfCode(truth, name, code);
      if (names.length === 0) {
        wrong.push(`${code} means ${name}`);
        continue;
      }
      const isText = names.some((known) => isTextOf(truth, known, msg ?? ''));
      if (msg !== undefined && !isText) wrong.push(`${code}, ${name}: the text ${msg}`);
      const isStatus = names.some((known) => truth.statuses[known] === http_status);
      if (http_status !== undefined && name !== 'tooManyRequests' && !isStatus)
        wrong.push(`${code}, ${name}: HTTP ${http_status}`);
    }
  }
  return { wrong, count };
}

function isTextOf(truth: Truth, name: string, msg: string): boolean {
  const text = truth.texts[name] ?? '';
  return msg === text || (truth.names_parameter === true && msg.startsWith(`${text}: `));
}

const isNear = (value: unknown, right: unknown) =>
  value === right ||
  (typeof value === 'number' && typeof right === 'number' && Math.abs(value - right) <= 1);

/** Whether the value of a field of the file is so. */
const isRight: Readonly<Record<string, (value: unknown, truth: Truth) => boolean>> = {
  http_status: (value, truth) => value === truth.http_status || truth.gateway !== null,
  absent: (value, truth) => value === truth.absent,
  empty_object: (value, truth) => value === truth.empty_object,
  refusal_data: (value, truth) => value === truth.refusal_data,
  values: (value, truth) => value === truth.values,
  unknown_parameters: (value, truth) => value === truth.unknown_parameters,
  replay: (value, truth) => value === truth.replay,
  scopes: (value, truth) => JSON.stringify(value) === JSON.stringify(truth.scopes),
  clock_window_seconds: (value, truth) => isNear(value, truth.window),
  clock_ahead_seconds: (value, { window, ahead }) =>
    value === 'same'
      ? isNear(window, ahead) || Math.abs(Number(window) - Number(ahead)) <= 2
      : isNear(value, ahead),
  code_uses: (value, truth) => value === truth.uses,
  passback_union_id: (value, truth) => (value === 'same') === truth.same_id,
  chat_prefix: (value, truth) => value === truth.prefix,
};

/**
 * Names of the checks that refuse a fault, where the platform has it: without it the fault is
 * accepted.
 */
const acceptedIf: Readonly<Record<string, (truth: Truth) => boolean>> = {
  'a code that was never issued': (truth) => truth.any_code === true,
  'a random of 7 characters': (truth) => truth.checks_random === false,
  'a timestamp of 9 digits': (truth) => truth.checks_timestamp === false,
  'a wrong app_sign': (truth) => truth.app_sign === false,
  'a passback without a user': (truth) => truth.takes_unnamed === true,
  'a primary_key that is not in user_info': (truth) => truth.takes_absent_key === true,
  'a user_info of two levels': (truth) => truth.takes_nested === true,
  'a reserved key in user_info': (truth) => truth.reserved !== 'refuse',
  'PUT where a read is a GET': (truth) => truth.checks_method === false,
  'GET where a passback is a PUT': (truth) => truth.checks_method === false,
};

/** What is said, but not saved, that is not so. */
function falseSentences(truth: Truth, { points, breaks, doubts }: Report): string[] {
  const wrong: string[] = [];
  for (const { what } of breaks) {
    const title = what.match(/^(.*) is accepted$/)?.[1];
    if (title !== undefined && !acceptedIf[title]?.(truth)) wrong.push(what);
  }
  const isLimited = truth.limit !== null || truth.block !== null;
  for (const doubt of doubts) {
    if (!isLimited && /the platform throttles(?! or)/.test(doubt)) wrong.push(doubt);
    const isUsual =
      JSON.stringify(truth.scopes).includes('get_user_info') || truth.scopes === 'any';
    if (isUsual && /get_user_info is refused/.test(doubt)) wrong.push(doubt);
  }
  const { codes, names_user } = truth.caller;
  for (const { field, detail, found } of points) {
    if (found) continue;
    if (codes > 0 && /needs --code/.test(detail)) wrong.push(`${field}: ${detail}`);
    if (names_user && /needs --union-id/.test(detail)) wrong.push(`${field}: ${detail}`);
    const isUsual =
      JSON.stringify(truth.scopes).includes('get_user_info') || truth.scopes === 'any';
    if (isUsual && /get_user_info is refused/.test(detail)) wrong.push(`${field}: ${detail}`);
  }
  return wrong;
}

/** Keys that the probe left in a record, and did not name. */
function unsaidKeys(before: Records, after: Records, said: string): string[] {
  const unsaid: string[] = [];
  for (const [user, record] of Object.entries(after)) {
    for (const [key, value] of Object.entries(record)) {
      const isNew = JSON.stringify(before[user]?.[key]) !== JSON.stringify(value);
      const isSaid = said
        .split('\n')
        .some((line) => line.includes(key) && /left|may still be/.test(line));
      if (isNew && !isSaid) unsaid.push(`${user}.${key}`);
    }
  }
  return unsaid;
}

/** What a probe of a platform claimed and did, compared with the truth. */
export interface Comparison {
  readonly seed: number;
  readonly truth: Truth;
  /** `null` if the probe failed. */
  readonly report: Report | null;
  readonly status: number | null;
  /** Number of claims in the file that are right. */
  readonly right: number;
  /** Claims in the file that are not. */
  readonly wrong: readonly string[];
  readonly falseSentences: readonly string[];
  /** Fields that are not known. */
  readonly open: readonly string[];
  readonly unsaidKeys: readonly string[];
  /** Requests that the platform received, and those that were announced. */
  readonly requests: number;
  readonly announced: number;
  readonly stderr: string;
}

/** Compares the file and the report with the truth. */
function compareReport(truth: Truth, report: Report) {
  const codes = falseCodes(truth, report);
  const wrong = [...codes.wrong];
  const open: string[] = [];
  let claims = codes.count;
  for (const [field, isSo] of Object.entries(isRight)) {
    const point = report.points.find((known) => known.field === field);
    if (!point?.found) {
      open.push(field);
      continue;
    }
    claims += 1;
    if (!isSo(point.value, truth)) wrong.push(`${field}: ${JSON.stringify(point.value)}`);
  }
  return {
    wrong,
    open,
    right: claims - wrong.length,
    falseSentences: falseSentences(truth, report),
  };
}

/** The rule of a client that signs the names of a captured read alone. */
const ruleOfNames = {
  signing: {
    sign: {
      params: {
        include: ['app_key', 'app_sign', 'channel', 'code', 'random', 'tenant_code', 'timestamp'],
        empty: 'drop',
      },
      message: ['$params', '&key=', '$secret'],
      steps: ['md5'],
    },
  },
};

/** Runs the built `userinfo probe` against a platform, as its user configures it. */
export async function probePlatform(
  machine: Machine,
  truth: Truth,
  seed: number,
  pause: string,
): Promise<Comparison> {
  const { mistake, names_user } = truth.caller;
  const usual = (name: string, value: string, wrong: string) => (mistake === name ? wrong : value);
  const args = [
    ...['--base-url', `http://127.0.0.1:${truth.port}`, '--environment', 'test'],
    ...['--tenant-code', usual('tenant', 'acme', 'other-tenant')],
    ...['--channel', usual('channel', 'web', 'other-channel')],
    ...['--app-key', usual('app_key', 'k', 'other-app')],
    ...truth.issued.flatMap((code) => ['--code', code]),
  ];
  if (names_user) args.push('--union-id', usual('user', 'u1', 'mistyped'));
  if (mistake === 'rule of names') {
    const name = `rule-${seed}.json`;
    machine.file(name, ruleOfNames);
    args.push('--platform', name);
  }
  const env = { USERINFO_APP_SECRET: usual('secret', secret, 'a-wrong-secret-000') };
  const done = await machine.run(['probe', ...args, '--yes', '--pause', pause, '--json'], { env });
  const { requests, records } = await controlOf(truth);
  const report: Report | null = done.status === 0 ? JSON.parse(done.stdout) : null;
  const said = [...(report?.doubts ?? []), done.stderr].join('\n');
  const compared =
    report === null
      ? { wrong: [], open: Object.keys(isRight), right: 0, falseSentences: [] }
      : compareReport(truth, report);
  return {
    seed,
    truth,
    report,
    status: done.status,
    ...compared,
    unsaidKeys: unsaidKeys(truth.before, records, said),
    requests,
    announced: Number(/at most (\d+) requests/.exec(done.stderr)?.[1]),
    stderr: done.stderr,
  };
}
