import type { UserNaming } from '../bulk/operations.js';
import type { Outcome, OutcomeCounts } from '../bulk/outcome.js';

const targetSettings = ['environment', 'base_url', 'tenant_code', 'channel'] as const;

/** Where the rows of a run are sent. A worker sends none to another deployment, tenant or channel than its own. */
export type RunTarget = Readonly<Record<(typeof targetSettings)[number], string>>;

/** The target of requests with these settings. */
export function targetOf(settings: Readonly<Record<keyof RunTarget, { readonly value: string }>>): RunTarget {
  return Object.fromEntries(targetSettings.map((name) => [name, settings[name].value])) as RunTarget;
}

/** The names of the settings that differ; empty if the targets are the same. */
export function targetDifferences(run: RunTarget, worker: RunTarget): string {
  const differing = targetSettings.filter((name) => run[name] !== worker[name]);
  return differing.join(', ').replaceAll('_', ' ').replace('url', 'URL');
}

/** The properties of a new run. */
export interface NewRun {
  readonly target: RunTarget;
  readonly naming: UserNaming;
  /** The input file: its path, its SHA-256 in hex, and the options that it was read with. */
  readonly source: Readonly<Record<'from' | 'hash', string> & Record<string, string | undefined>>;
  readonly rows: number;
  /** Maximum rows a second of all workers together; `null`: unlimited. */
  readonly rate: number | null;
  /** Whether its rows stay in the queue after they are done. */
  readonly keepsRows: boolean;
  /** Time for which a worker has a chunk, in milliseconds: then others may take it. */
  readonly leaseMs: number;
}

/** A run in the queue, named as in the output. Times are seconds since 1970, by the clock of the database. */
export interface QueuedRun extends NewRun, OutcomeCounts {
  readonly run: string;
  /** `loading` while its rows are added; workers process it once it is `ready`. */
  readonly state: 'loading' | 'ready' | 'done' | 'cancelled' | 'deleting';
  /** Numbers of rows with an outcome, and of rows with another outcome than ok. */
  readonly done: number;
  readonly not_ok: number;
  /** The earlier runs to the same target that must end first. */
  readonly waits_for: readonly string[];
  readonly chunks: number;
  /** Numbers of chunks that wait or are in progress, of chunks that have failed, and of workers that hold one. */
  readonly chunks_left: number;
  readonly failed_chunks: number;
  readonly workers: number;
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** The outcome of a row of a run. */
export interface QueuedOutcome {
  readonly line: number;
  readonly outcome: Outcome;
  /** The part of its results line that `formatOutcome` writes. */
  readonly result: string;
}
