import type { FaultSettings } from '../faults/faults.js';
import { formatJson } from './format-json.js';
import { formatPretty } from './format-pretty.js';

/** What the service tells its operator, named as the JSON log names it. Personal data is masked by whoever logs. */
export type LogEvent =
  | { readonly event: 'listening'; readonly url: string }
  | { readonly event: 'stopped' }
  | ({ readonly event: 'faults' } & FaultSettings)
  | WorkerEndedEvent
  | RequestEvent
  | SignatureRejectedEvent
  | NeedlessEscapesEvent
  | { readonly event: 'log_dropped'; readonly events: number }
  | ProblemEvent;

/** Something is more than the service takes, the store does not answer, or the service has a fault. */
export interface ProblemEvent {
  readonly event: 'overload' | 'store_unavailable' | 'fault';
  readonly problem: string;
  /** How often it came again since it was last logged; absent where it is new. */
  readonly repeats?: number;
}

/** One of several processes that serve together has ended, though nobody stopped it. */
export interface WorkerEndedEvent {
  readonly event: 'worker_ended';
  readonly pid: number;
  /** The signal that killed it, or its exit status. */
  readonly reason: string;
  /** After how long another is started, in milliseconds. */
  readonly restart_ms: number;
}

/** A request was answered. */
export interface RequestEvent {
  readonly event: 'request';
  /** `read`, `passback`, or what was asked for instead: method and path. */
  readonly operation: string;
  /** Masked where there is no such app. */
  readonly app_key: string | null;
  /** Masked where it is not the app's. */
  readonly tenant_code: string | null;
  readonly status: number;
  readonly code: number;
  /** `msg` of the envelope; the names in it masked that may be values. */
  readonly msg: string;
  /** From its headers to the end of the answer, in milliseconds. */
  readonly ms: number;
}

/** Why a signature is wrong, stage by stage: `<secret>` for the secret, personal data masked. */
export interface SignatureRejectedEvent {
  readonly event: 'signature_rejected';
  readonly signature: 'app_sign' | 'sign';
  readonly app_key: string;
  /** What the service signed, where the message takes parameters. */
  readonly params: string;
  readonly message: string;
  /** Its middle hidden, as that of the one that was received. */
  readonly expected: string;
  readonly received: string;
}

/** A `user_info` was received that writes non-ASCII text or slashes as escapes, against §4.2 rule 7. */
export interface NeedlessEscapesEvent {
  readonly event: 'needless_escapes';
  readonly app_key: string;
  readonly tenant_code: string;
}

/** Where the service tells what happens. */
export type Log = (event: LogEvent) => void;

export type LogFormat = 'pretty' | 'json';

export interface LogOptions {
  readonly format: LogFormat;
  /** Takes one line, without its newline. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A log that is written: `pretty` for people, `json` with one object a line for programs. */
export function createLog({ format, write, now }: LogOptions): Log {
  return (event) => {
    const time = new Date(now()).toISOString();
    const lines = format === 'json' ? [formatJson(time, event)] : formatPretty(time, event);
    for (const line of lines) write(line);
  };
}
