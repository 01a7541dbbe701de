import { UserInfoError } from '../core/contract/errors.js';
import { httpStatusOf, type ResultCodeName, resultCode } from '../core/contract/result-codes.js';
import { escapeUnsafe } from '../core/contract/unsafe-text.js';
import type { SignatureName } from '../core/signing/app-signatures.js';
import { StoreUnavailableError } from './database/errors.js';
import { describeFaults, type FaultSettings } from './fault-settings.js';
import { UnreadableSecretError } from './store/secret-cipher.js';

/** Events for the operator, named as in the JSON log. Whoever logs masks personal data. */
export type LogEvent =
  | { readonly event: 'listening'; readonly url: string }
  | { readonly event: 'monitoring'; readonly url: string }
  /**
   * The admin port takes the admin token without TLS at an address that other machines may reach.
   */
  | { readonly event: 'unencrypted_token'; readonly host: string }
  | { readonly event: 'stopped' }
  | ({ readonly event: 'faults' } & FaultSettings)
  | AnsweredEvent
  | SignatureRejectedEvent
  /** A `user_info` escapes non-ASCII text or slashes, against §4.2 rule 7. */
  | { readonly event: 'needless_escapes'; readonly app_key: string; readonly tenant_code: string }
  | { readonly event: 'log_dropped'; readonly events: number }
  | ProblemEvent;

/**
 * A limit is exceeded, the store does not answer, the secret of an app cannot be read, clocks
 * differ, or the service has an internal error.
 */
export interface ProblemEvent {
  readonly event: 'overload' | 'store_unavailable' | 'unreadable_secret' | 'clock' | 'fault';
  readonly problem: string;
  /** The first request that it concerned; absent if it concerned none, and from repeats. */
  readonly request_id?: string;
  /** Number of repeats since it was last logged; absent if it is new. */
  readonly repeats?: number;
}

/** Who sent a request. */
export interface RequestSource {
  /** As in the header `X-Request-Id` of the answer. */
  readonly request_id: string;
  /** From the header `traceparent` of the request. */
  readonly trace_id?: string;
  /** The address of the client; behind a trusted proxy the one that it forwards. */
  readonly client: string;
}

/** A request was answered. */
export interface AnsweredEvent extends Partial<RequestSource> {
  readonly event: 'request';
  /** `read`, `passback`, or method and path of any other request. */
  readonly operation: string;
  /** Masked if there is no such app. */
  readonly app_key: string | null;
  /** Masked if it is not that of the app. */
  readonly tenant_code: string | null;
  readonly status: number;
  /** The result code that was sent, which may be one of the platform's own. */
  readonly code: number;
  /** What it means. */
  readonly means: ResultCodeName;
  /** `msg` of the envelope; names that may be values are masked. */
  readonly msg: string;
  /** The keyed digest of the user, as in the audit; absent if the user is not known. */
  readonly user_digest?: string;
  /** From the headers of the request to the end of the answer, in milliseconds. */
  readonly ms: number;
}

/** The stages of a wrong signature: `<secret>` for the secret, personal data masked. */
export interface SignatureRejectedEvent {
  readonly event: 'signature_rejected';
  readonly signature: SignatureName;
  readonly app_key: string;
  /** The parameter block, if the message uses it. */
  readonly params: string;
  readonly message: string;
  /** The expected digest, its middle masked, as that of `received`. */
  readonly expected: string;
  readonly received: string;
}

/** Receives the events of a service. */
export type Log = (event: LogEvent) => void;

/** The form of the lines of a log: for people, or one JSON object each. */
export type LogFormat = 'pretty' | 'json';

/** The levels of events, from the least important one. */
const logLevels = ['info', 'warn', 'error'] as const;
/** The level of an event. */
export type LogLevel = (typeof logLevels)[number];

/** The options of a log. */
export interface LogOptions {
  readonly format: LogFormat;
  /**
   * The least important events that are written.
   *
   * @default 'info', all of them
   */
  readonly level?: LogLevel;
  /** Receives one line, without its newline. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How a kind of event is logged. */
interface EventKind<Event> {
  readonly level: LogLevel | ((event: Event) => LogLevel);
  /** Its lines for people. */
  readonly lines: (event: Event) => string[];
}

/**
 * A log of lines: `pretty` for people, `json` with one object per line for programs.
 *
 * @example
 * const log = createLog({ format: 'pretty', write: console.error, now: Date.now });
 * const service = await createService({ log });
 */
export function createLog(options: LogOptions): Log {
  const { format, level = 'info', write, now } = options;
  const least = logLevels.indexOf(level);
  return (event) => {
    const kind = kinds[event.event] as EventKind<LogEvent>;
    const eventLevel = typeof kind.level === 'string' ? kind.level : kind.level(event);
    if (logLevels.indexOf(eventLevel) < least) return;
    const time = new Date(now()).toISOString();
    if (format === 'json') {
      write(escapeUnsafe(JSON.stringify({ time, level: eventLevel, ...event })));
      return;
    }
    const [first = '', ...further] = kind.lines(event);
    write(escapeUnsafe(`${time} ${first}`));
    for (const line of further) write(escapeUnsafe(`    ${line}`));
  };
}

const kinds: { readonly [Name in LogEvent['event']]: EventKind<LogEvent & { event: Name }> } = {
  listening: { level: 'info', lines: ({ url }) => [`listening on ${url}`] },
  monitoring: { level: 'info', lines: ({ url }) => [`monitoring on ${url}`] },
  unencrypted_token: {
    level: 'warn',
    lines: ({ host }) => [
      'warning: the admin token comes unencrypted over the network:' +
        ` the admin port is on ${host}, without TLS`,
    ],
  },
  stopped: { level: 'info', lines: () => ['stopped'] },
  faults: {
    level: 'warn',
    lines: (faults) => [`warning: injecting faults: ${describeFaults(faults)}`],
  },
  request: {
    // By its meaning: the HTTP status is up to the platform.
    level: ({ means }) => (httpStatusOf(resultCode[means]) >= 500 ? 'warn' : 'info'),
    lines: (event) => [describeRequest(event)],
  },
  signature_rejected: {
    level: 'warn',
    lines: (event) => [
      `${event.signature} of app ${event.app_key} is wrong; the service computes:`,
      `params    ${event.params}`,
      `message   ${event.message}`,
      `expected  ${event.expected}`,
      `received  ${event.received}`,
    ],
  },
  needless_escapes: {
    level: 'warn',
    lines: ({ app_key, tenant_code }) => [
      `warning: app ${app_key} of tenant ${tenant_code} escapes characters of user_info` +
        ' that it should write as they are (§4.2 rule 7)',
    ],
  },
  log_dropped: {
    level: 'warn',
    lines: ({ events }) => [
      `warning: ${events} events were not logged: the log was not read fast enough`,
    ],
  },
  overload: { level: 'warn', lines: (event) => [`warning: ${event.problem}${repeated(event)}`] },
  store_unavailable: {
    level: 'error',
    lines: (event) => [`the store is unavailable: ${event.problem}${repeated(event)}`],
  },
  unreadable_secret: { level: 'error', lines: (event) => [event.problem + repeated(event)] },
  clock: {
    level: 'error',
    lines: (event) => [`requests are refused: ${event.problem}${repeated(event)}`],
  },
  fault: {
    level: 'error',
    lines: (event) => [`internal error${repeated(event)}:`, ...event.problem.split('\n')],
  },
};

function describeRequest(event: AnsweredEvent): string {
  const { operation, app_key, tenant_code, status, code, msg, ms } = event;
  const caller = `app_key=${app_key ?? '-'} tenant_code=${tenant_code ?? '-'}`;
  const line = `${status} ${operation} ${caller} ${Math.round(ms)}ms ${code}`;
  return code === resultCode.ok ? line : `${line} ${msg}`;
}

/** How often a problem occurred again. */
function repeated({ repeats }: ProblemEvent): string {
  if (repeats === undefined) return '';
  return repeats === 1 ? ' (once more)' : ` (${repeats} more times)`;
}

/**
 * Logs a failure that needs the operator: an error of the store, or an unexpected one. `request` is
 * the one that it concerns.
 */
export function logFault(
  log: Log,
  error: unknown,
  request: Pick<ProblemEvent, 'request_id'> = {},
): void {
  if (error instanceof UnreadableSecretError) {
    log({ event: 'unreadable_secret', problem: error.message, ...request });
    return;
  }
  if (error instanceof StoreUnavailableError) {
    log({ event: 'store_unavailable', problem: error.message, ...request });
    return;
  }
  // Another error of ours is the client's.
  if (error instanceof UserInfoError) return;
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log({ event: 'fault', problem, ...request });
}

/** Time for which repeats of a problem are counted before they are logged, in milliseconds. */
const countingMs = 1000;

/**
 * A log that writes a problem at once, and its repeats once a second as a number: an error of the
 * store occurs for each request. Other events are written as they come. `end` writes the remaining
 * numbers.
 */
export function foldRepeats(log: Log): { readonly log: Log; end(): void } {
  const recent = new Map<string, { readonly event: ProblemEvent; repeats: number }>();
  const logRepeats = () => {
    for (const [key, counted] of recent) {
      const { event, repeats } = counted;
      if (repeats === 0) recent.delete(key);
      else log({ event: event.event, problem: event.problem, repeats });
      counted.repeats = 0;
    }
  };
  const timer = setInterval(logRepeats, countingMs).unref();
  return {
    log(event) {
      if (!('problem' in event)) return log(event);
      const key = `${event.event} ${event.problem}`;
      const counted = recent.get(key);
      if (counted !== undefined) {
        counted.repeats += 1;
        return;
      }
      recent.set(key, { event, repeats: 0 });
      log(event);
    },
    end() {
      clearInterval(timer);
      logRepeats();
    },
  };
}
