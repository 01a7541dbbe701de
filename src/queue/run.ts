import type { UserNaming } from '../bulk/operations.js';
import { type Outcome, type OutcomeCounts, outcomes } from '../bulk/outcome.js';
import type { Schema } from '../database/migrations.js';
import type { SqlRow } from '../database/sql-driver.js';

/** Where the rows of a run are sent. A worker sends none to another deployment, tenant or channel than its own. */
export interface RunTarget {
  readonly environment: string;
  readonly base_url: string;
  readonly tenant_code: string;
  readonly channel: string;
}

/** The source of the rows of a run, which its results are combined with. */
export interface RunSource {
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  /** The path of the file, as the user wrote it. */
  readonly from: string;
  /** As in the options of the command line. */
  readonly format?: 'csv' | 'ndjson';
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly types?: string;
  readonly empty?: 'keep' | 'drop';
}

/** `loading` while its rows are added; workers process it once it is `ready`, until it is `done` or `cancelled`. */
export type RunState = 'loading' | 'ready' | 'done' | 'cancelled';

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

/** A run in the queue. Times are milliseconds since 1970, by the clock of the database. */
export interface QueuedRun extends NewRun {
  readonly run: string;
  readonly state: RunState;
  readonly createdAt: number;
  /** When a worker took the first chunk; `null` before. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly chunks: number;
  readonly chunksDone: number;
  readonly counts: OutcomeCounts;
  /** Rows a second over about the last minute; 0 if no row was done in it. */
  readonly speed: number;
}

/** A row in the queue: its line in the input, and its values as flat JSON. */
export interface QueuedRow {
  readonly line: number;
  readonly json: string;
}

/** Rows that one worker takes together. */
export interface TakenChunk {
  /** Of its job. */
  readonly id: string;
  readonly rows: readonly QueuedRow[];
  /** A time, as the database writes it; tells its holder from the next one. */
  readonly takenAt: string;
  /** When others may take it, as `performance.now()` counts. */
  readonly leasedUntil: number;
}

/** The outcome of a row of a run. */
export interface QueuedOutcome {
  readonly line: number;
  readonly outcome: Outcome;
  /** The part of its results line that `formatOutcome` writes. */
  readonly result: string;
}

/** The current time, by the clock of the database; in milliseconds since 1970. */
export const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';

/** The tables of the queue, in addition to those of pg-boss. */
export const queueSchema: Schema = {
  table: 'userinfo_runs_migrations',
  owner: 'the queue',
  worksWith: 2,
  steps: [
    [
      `CREATE TABLE userinfo_runs (
        run TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, given TEXT NOT NULL, created_at BIGINT NOT NULL,
        started_at BIGINT, recorded_at BIGINT, ended_at BIGINT, chunks BIGINT NOT NULL DEFAULT 0,
        chunks_done BIGINT NOT NULL DEFAULT 0, speed DOUBLE PRECISION NOT NULL DEFAULT 0,
        ${outcomes.map((outcome) => `${outcome} BIGINT NOT NULL DEFAULT 0`).join(', ')})`,
      `CREATE TABLE userinfo_outcomes (
        run TEXT NOT NULL, line BIGINT NOT NULL, outcome TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (run, line))`,
    ],
    ['ALTER TABLE userinfo_runs_migrations ADD COLUMN works_with BIGINT'],
  ],
};

/** Selects runs for `toRun`. */
export const selectRuns = `SELECT *, ${nowMs} AS now FROM userinfo_runs`;

/** The speed of a run is an average in which rows of this many milliseconds ago count 1/e, like a load average. */
const averagedMs = 60_000;

/** The new speed after so many more rows: an expression. */
export function speedAfter(rows: string): string {
  const age = `(COALESCE(recorded_at, ${nowMs}) - ${nowMs}) / ${averagedMs}.0`;
  return `speed * exp(GREATEST(-99, ${age})) + ${rows} * 1000.0 / ${averagedMs}`;
}

/** Converts a row of `selectRuns`. */
export function toRun(row: SqlRow): QueuedRun {
  const number = (name: string) => Number(row[name]);
  const orNull = (name: string) => (row[name] === null ? null : number(name));
  const since = (name: string) => number('now') - number(name);
  const isMoving = row.recorded_at !== null && since('recorded_at') < averagedMs;
  const counted = 1 - Math.exp(-Math.max(1, since('started_at')) / averagedMs);
  return {
    ...(JSON.parse(String(row.given)) as NewRun),
    run: String(row.run),
    state: String(row.state) as RunState,
    createdAt: number('created_at'),
    startedAt: orNull('started_at'),
    endedAt: orNull('ended_at'),
    chunks: number('chunks'),
    chunksDone: number('chunks_done'),
    counts: Object.fromEntries(outcomes.map((outcome) => [outcome, number(outcome)])) as OutcomeCounts,
    speed: isMoving ? (number('speed') * Math.exp(-since('recorded_at') / averagedMs)) / counted : 0,
  };
}

/** The names of the settings that differ; empty if the targets are the same. */
export function targetDifferences(run: RunTarget, worker: RunTarget): string {
  const names = ['environment', 'base_url', 'tenant_code', 'channel'] as const;
  const differing = names.filter((name) => run[name] !== worker[name]);
  return differing.join(', ').replaceAll('_', ' ').replace('url', 'URL');
}
