// Apart from commands/doctor.ts: only a run of the command loads the checks.
import { UserInfoError } from '../../protocol/errors.js';
import type { CliContext } from '../context.js';
import type { CommonOptions, ConnectionOptions } from '../options.js';
import type { Colors } from '../output/style.js';
import { showText } from '../output/terminal-text.js';
import { hintOf } from '../report-error.js';
import { checkConnection, checkDns, checkProxy, checkTls } from './network-checks.js';
import { checkBaseUrl, checkProfileFile, checkSecret, checkSettings } from './profile-checks.js';
import { checkAcceptance, checkAnswer, checkClock, checkSigning } from './service-checks.js';

/** Runs all checks from the profile to the answer of the service, in the order of a request. */
export async function runCheckup(
  checkup: Checkup,
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<void> {
  await checkup.run('profile_file', () => checkProfileFile(context));
  const settings = await checkup.run('settings', () => checkSettings(context, options));
  const url = await checkup.after(settings, 'base_url', checkBaseUrl);
  const secret = await checkup.after(settings, 'app_secret', checkSecret);
  const way = await checkup.after(settings && url && { settings, url }, 'proxy', (known) =>
    checkProxy(context, known.settings, known.url, options.timeout),
  );
  const client = await checkup.after(settings && secret && way && { settings, secret }, 'signing', (known) =>
    checkSigning(context, known.settings, known.secret, options),
  );
  try {
    const found = await checkup.after(way, 'dns', checkDns);
    const socket = await checkup.after(found, 'connection', (known) =>
      checkConnection(known, context.steadyNow),
    );
    const reached = await checkup.after(socket && way && { socket, way }, 'tls', (known) =>
      checkTls(known.socket, known.way, context.now()),
    );
    const answered = await checkup.after(reached && client, 'answer', (known) => checkAnswer(known, context));
    await checkup.after(answered, 'clock', checkClock);
    await checkup.after(answered, 'acceptance', checkAcceptance);
  } finally {
    await client?.close();
  }
}

/** The checks: identifier for programs, and title. */
export const checkTitles = {
  profile_file: 'profile file',
  settings: 'settings',
  base_url: 'base URL',
  app_secret: 'app secret',
  proxy: 'proxy',
  signing: 'signing',
  dns: 'DNS',
  connection: 'connection',
  tls: 'TLS',
  answer: 'answer',
  clock: 'clock',
  acceptance: 'acceptance',
} as const;

export type CheckName = keyof typeof checkTitles;

/** The result of a check. `skipped`: there was nothing to check, or an earlier check failed. */
export interface Check {
  readonly check: CheckName;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The result in one line. */
  readonly detail: string;
  /** What to do about it. */
  readonly next: string | null;
}

/** What a check returns: its result, and the value that later checks need. */
export interface Finding<T> {
  readonly detail: string;
  readonly next?: string;
  readonly value: T;
  /** There was nothing to check; not a failure. */
  readonly skipped?: true;
}

/** One or more checks failed. The code is that of the first failure, which determines the exit status. */
class CheckupError extends UserInfoError {
  readonly code: string;

  constructor(message: string, first: UserInfoError) {
    super(message, { hint: 'See the advice below each ✗.', cause: first });
    this.code = first.code;
  }
}

/** Runs checks one after the other, and reports each as it completes. */
export class Checkup {
  readonly checks: Check[] = [];
  readonly #report: (check: Check) => Promise<void>;
  readonly #faults: UserInfoError[] = [];

  constructor(report: (check: Check) => Promise<void>) {
    this.#report = report;
  }

  /**
   * Runs a check.
   *
   * @returns its value; `undefined` if it failed, that is, if `work` threw a UserInfoError
   */
  async run<T>(check: CheckName, work: () => Promise<Finding<T>>): Promise<T | undefined> {
    try {
      const { detail, next = null, value, skipped = false } = await work();
      await this.#add({ check, status: skipped ? 'skipped' : 'ok', detail, next });
      return value;
    } catch (error) {
      if (!(error instanceof UserInfoError) || error.code === 'CANCELLED') throw error;
      this.#faults.push(error);
      await this.#add({ check, status: 'failed', detail: error.message, next: hintOf(error) ?? null });
      return undefined;
    }
  }

  /** Runs a check that needs the value of an earlier one; skips it if that failed. */
  async after<N, T>(
    needed: N | undefined,
    check: CheckName,
    work: (needed: N) => Promise<Finding<T>>,
  ): Promise<T | undefined> {
    if (needed !== undefined) return this.run(check, () => work(needed));
    await this.#add({ check, status: 'skipped', detail: 'not reached', next: null });
    return undefined;
  }

  /** @throws CheckupError if a check failed */
  conclude(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    throw new CheckupError(`${this.#faults.length} of ${this.checks.length} checks failed`, first);
  }

  async #add(check: Check): Promise<void> {
    this.checks.push(check);
    await this.#report(check);
  }
}

const titleWidth = Math.max(...Object.values(checkTitles).map((title) => title.length));

/** One line for a check, and one for what to do next. */
export function formatCheck({ check, status, detail, next }: Check, colors: Colors): string {
  const marks = { ok: colors('green', '✓'), failed: colors('red', '✗'), skipped: colors('dim', '–') };
  const title = checkTitles[check].padEnd(titleWidth);
  const line = `${marks[status]} ${title}  ${showText(detail)}\n`;
  return next === null ? line : `${line}${' '.repeat(titleWidth + 4)}${showText(next)}\n`;
}
