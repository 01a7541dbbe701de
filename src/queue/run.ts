import type { UserNaming } from '../bulk/operations.js';
import { type Outcome, type OutcomeCounts, outcomes } from '../bulk/outcome.js';
import type { Schema } from '../database/migrations.js';
import { formatCount } from '../support/count.js';

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

/** The input file of a run: its path, its SHA-256 in hex, and the options that it was read with. */
export type RunSource = Readonly<Record<'from' | 'hash', string>> &
  Readonly<Partial<Record<'format' | 'delimiter' | 'encoding' | 'types' | 'empty', string>>>;

/** The properties of a new run. */
export interface NewRun {
  readonly target: RunTarget;
  readonly naming: UserNaming;
  readonly source: RunSource;
  readonly rows: number;
  /** Maximum rows a second of all workers together; `null`: unlimited. */
  readonly rate: number | null;
  /** Whether its rows stay in the queue after they are done. */
  readonly keepsRows: boolean;
}

/** An earlier run whose end another waits for, and how many users both name; `null`: they cannot be compared. */
export interface AwaitedRun {
  readonly run: string;
  readonly users: number | null;
}

/** The runs that a run waits for, in words. */
export function describeWait(awaited: readonly AwaitedRun[]): string {
  const describe = ({ run, users }: AwaitedRun) => {
    if (users === null) return `run ${run}: their users cannot be compared`;
    return `run ${run}: they name ${formatCount(users)} of the same users`;
  };
  return awaited.map(describe).join('; ');
}

/** A run in the queue, named as in the output. Times are seconds since 1970, by the clock of the database. */
export interface QueuedRun extends NewRun, OutcomeCounts {
  readonly run: string;
  /** `loading` while its rows are added; workers process it once it is `ready`. */
  readonly state: 'loading' | 'ready' | 'done' | 'cancelled';
  /** Numbers of rows with an outcome, and of rows with another outcome than ok. */
  readonly done: number;
  readonly not_ok: number;
  /** Over about the last minute; `null` if no row was done in it. */
  readonly rows_per_second: number | null;
  /** The earlier runs to the same target that must end first. */
  readonly waits_for: readonly AwaitedRun[];
  readonly chunks: number;
  /** For how long a worker has a chunk, in milliseconds. */
  readonly leaseMs: number;
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

/** The tables of the queue. Times are milliseconds since 1970, by the clock of the database. */
export const queueSchema: Schema = {
  table: 'userinfo_runs_migrations',
  owner: 'the queue',
  worksWith: 3,
  steps: [
    [
      `CREATE TABLE userinfo_runs (
        run TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, given TEXT NOT NULL, created_at BIGINT NOT NULL,
        started_at BIGINT, recorded_at BIGINT, ended_at BIGINT, chunks BIGINT NOT NULL DEFAULT 0,
        speed DOUBLE PRECISION NOT NULL DEFAULT 0,
        ${outcomes.map((outcome) => `${outcome} BIGINT NOT NULL DEFAULT 0`).join(', ')})`,
      `CREATE TABLE userinfo_outcomes (
        run TEXT NOT NULL, line BIGINT NOT NULL, outcome TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (run, line))`,
    ],
    ['ALTER TABLE userinfo_runs_migrations ADD COLUMN works_with BIGINT'],
    [
      // Before this step, pg-boss had the rows.
      `DO $$ BEGIN
        IF EXISTS (SELECT 1 FROM userinfo_runs
          WHERE state IN ('loading', 'ready') OR CAST(given AS JSON) ->> 'keepsRows' = 'true')
        THEN RAISE EXCEPTION 'only the version before can read the rows of its runs: finish and delete them with it';
        END IF; END $$`,
      // Processes of that version fail now: they would find no chunk of a run, and end it.
      'ALTER TABLE userinfo_runs RENAME COLUMN given TO properties',
      "ALTER TABLE userinfo_runs ADD COLUMN waits_for TEXT NOT NULL DEFAULT '[]'",
      `CREATE TABLE userinfo_chunks (
        run TEXT NOT NULL, chunk BIGINT NOT NULL, data TEXT, done BOOLEAN NOT NULL DEFAULT false,
        takings BIGINT NOT NULL DEFAULT 0, leased_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (run, chunk))`,
    ],
  ],
};
