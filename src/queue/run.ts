import type { UserNaming } from '../bulk/operations.js';
import { type Outcome, type OutcomeCounts, outcomes } from '../bulk/outcome.js';
import type { Schema } from '../database/migrations.js';

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

/** Maximum number of times that workers take a chunk. */
export const maxTakings = 1000;

/** The tables of the queue. Times are milliseconds since 1970, by the clock of the database. */
export const queueSchema: Schema = {
  table: 'userinfo_queue_migrations',
  owner: 'the queue',
  worksWith: 1,
  steps: [
    [
      `CREATE TABLE userinfo_runs (
        run TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, properties TEXT NOT NULL,
        waits_for TEXT NOT NULL DEFAULT '[]', created_at BIGINT NOT NULL, ended_at BIGINT,
        chunks BIGINT NOT NULL DEFAULT 0, chunks_done BIGINT NOT NULL DEFAULT 0,
        ${outcomes.map((outcome) => `${outcome} BIGINT NOT NULL DEFAULT 0`).join(', ')})`,
      `CREATE TABLE userinfo_chunks (
        run TEXT NOT NULL, chunk BIGINT NOT NULL, data TEXT, done BOOLEAN NOT NULL DEFAULT false,
        takings BIGINT NOT NULL DEFAULT 0, leased_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (run, chunk))`,
      'CREATE INDEX userinfo_runs_by_state ON userinfo_runs (state, ended_at)',
      'CREATE INDEX userinfo_chunks_left ON userinfo_chunks (run, chunk) WHERE NOT done',
      'CREATE INDEX userinfo_chunks_leased ON userinfo_chunks (run) WHERE leased_until > 0',
      `CREATE INDEX userinfo_chunks_failed ON userinfo_chunks (run) WHERE takings >= ${maxTakings} AND NOT done`,
      `CREATE TABLE userinfo_outcomes (
        run TEXT NOT NULL, line BIGINT NOT NULL, outcome TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (run, line))`,
    ],
  ],
};
