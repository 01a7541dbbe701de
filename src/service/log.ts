import { UserInfoError } from '../core/contract/errors.js';
import { httpStatusOf, type ResultCodeName, resultCode } from '../core/contract/result-codes.js';
import { escapeUnsafe } from '../core/contract/unsafe-text.js';
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
  readonly signature: 'app_sign' | 'sign';
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
  /** The least important events that are written. Default: `info`, all of them. */
  readonly level?: LogLevel;
  /** Receives one line, without its newline. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The level of a kind of event, and its lines for people. */
type EventKind<Event> = readonly [
  level: LogLevel | ((event: Event) => LogLevel),
  lines: (event: Event) => string[],
];

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
    const [levelOf, linesOf] = kinds[event.event] as EventKind<LogEvent>;
    const eventLevel = typeof levelOf === 'string' ? levelOf : levelOf(event);
    if (logLevels.indexOf(eventLevel) < least) return;
    const time = new Date(now()).toISOString();
    const lines =
      format === 'json'
        ? [JSON.stringify({ time, level: eventLevel, ...event })]
        : linesOf(event).map((line, index) => (index === 0 ? `${time} ${line}` : `    ${line}`));
    for (const line of lines) write(escapeUnsafe(line));
  };
}

const kinds: { readonly [Name in LogEvent['event']]: EventKind<LogEvent & { event: Name }> } = {
  listening: ['info', ({ url }) => [`listening on ${url}`]],
  monitoring: ['info', ({ url }) => [`monitoring on ${url}`]],
  unencrypted_token: [
    'warn',
    ({ host }) => [
      `warning: the admin token comes unencrypted over the network: the admin port is on ${host}, without TLS`,
    ],
  ],
  stopped: ['info', () => ['stopped']],
  faults: ['warn', (faults) => [`warning: injecting faults: ${describeFaults(faults)}`]],
  request: [
    // By its meaning: the HTTP status is up to the platform.
    ({ means }) => (httpStatusOf(resultCode[means]) >= 500 ? 'warn' : 'info'),
    (event) => [describeRequest(event)],
  ],
  signature_rejected: [
    'warn',
    (event) => [
      `${event.signature} of app ${event.app_key} is wrong; the service computes:`,
      `params    ${event.params}`,
      `message   ${event.message}`,
      `expected  ${event.expected}`,
      `received  ${event.received}`,
    ],
  ],
  needless_escapes: [
    'warn',
    ({ app_key, tenant_code }) => [
      `warning: app ${app_key} of tenant ${tenant_code} escapes characters of user_info` +
        ' that it should write as they are (§4.2 rule 7)',
    ],
  ],
  log_dropped: [
    'warn',
    ({ events }) => [`warning: ${events} events were not logged: the log was not read fast enough`],
  ],
  overload: ['warn', (event) => [`warning: ${event.problem}${again(event)}`]],
  store_unavailable: [
    'error',
    (event) => [`the store is unavailable: ${event.problem}${again(event)}`],
  ],
  unreadable_secret: ['error', (event) => [`${event.problem}${again(event)}`]],
  clock: ['error', (event) => [`requests are refused: ${event.problem}${again(event)}`]],
  fault: ['error', (event) => [`internal error${again(event)}:`, ...event.problem.split('\n')]],
};

function describeRequest({
  operation,
  app_key,
  tenant_code,
  status,
  code,
  msg,
  ms,
}: AnsweredEvent): string {
  const line = `${status} ${operation} app_key=${app_key ?? '-'} tenant_code=${tenant_code ?? '-'} ${Math.round(ms)}ms ${code}`;
  return code === resultCode.ok ? line : `${line} ${msg}`;
}

function again({ repeats }: ProblemEvent): string {
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
  if (error instanceof StoreUnavailableError) {
    const event =
      error instanceof UnreadableSecretError ? 'unreadable_secret' : 'store_unavailable';
    log({ event, problem: error.message, ...request });
  } else if (!(error instanceof UserInfoError)) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log({ event: 'fault', problem, ...request });
  }
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
    for (const [key, found] of recent) {
      const { event, repeats } = found;
      if (repeats === 0) recent.delete(key);
      else log({ event: event.event, problem: event.problem, repeats });
      found.repeats = 0;
    }
  };
  const timer = setInterval(logRepeats, countingMs).unref();
  return {
    log(event) {
      if (!('problem' in event)) return log(event);
      const key = `${event.event} ${event.problem}`;
      const found = recent.get(key);
      if (found !== undefined) {
        found.repeats += 1;
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
