import type { UserNaming } from '../bulk/operations.js';
import type { OutcomeCounts } from '../bulk/outcome.js';
import type { SqlRow } from '../database/sql-driver.js';
import { nowMs } from './schema.js';

/** Where the rows of a run are sent. A worker sends none to another deployment, tenant or channel than its own. */
export interface RunTarget {
  readonly environment: string;
  readonly base_url: string;
  readonly tenant_code: string;
  readonly channel: string;
}

/** The source of the rows of a run, which its results are combined with. */
export interface RunSource {
  /** The path of the file, as the user wrote it. */
  readonly from: string;
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  readonly format: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  /** In the syntax of `--types`. */
  readonly types: string | null;
  readonly empty: 'keep' | 'drop' | null;
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
  readonly endedAt: number | null;
  readonly chunks: number;
  readonly chunksDone: number;
  readonly counts: OutcomeCounts;
  /** Number of workers that hold one of its chunks. */
  readonly workers: number;
  /** Rows a second over the last minute. */
  readonly speed: number;
}

/** A chunk counts towards the speed of a run if an outcome was recorded within this time, in milliseconds. */
const recentMs = 60_000;
const isRecent = `FILTER (WHERE recorded_at > ${nowMs} - ${recentMs})`;

/** Selects runs with their progress. */
export const selectRuns =
  'SELECT runs.*, progress.* FROM userinfo_runs runs, LATERAL (SELECT COALESCE(SUM(ok), 0) AS ok,' +
  ' COALESCE(SUM(failed), 0) AS failed, COALESCE(SUM(invalid), 0) AS invalid, COALESCE(SUM(unknown), 0) AS unknown,' +
  ' COUNT(DISTINCT holder) FILTER (WHERE done_at IS NULL) AS workers,' +
  ` COALESCE(SUM(ok + failed + invalid + unknown) ${isRecent}, 0) AS recent_rows,` +
  ` COALESCE(${nowMs} - MIN(taken_at) ${isRecent}, 0) AS recent_ms` +
  ' FROM userinfo_chunks WHERE userinfo_chunks.run = runs.run) AS progress';

/** Converts a row of `selectRuns`. */
export function toRun(row: SqlRow): QueuedRun {
  const number = (name: string) => Number(row[name]);
  return {
    ...(JSON.parse(String(row.given)) as NewRun),
    run: String(row.run),
    state: String(row.state) as RunState,
    createdAt: number('created_at'),
    endedAt: row.ended_at === null ? null : number('ended_at'),
    chunks: number('chunks'),
    chunksDone: number('chunks_done'),
    counts: {
      ok: number('ok'),
      failed: number('failed'),
      invalid: number('invalid'),
      unknown: number('unknown'),
    },
    workers: number('workers'),
    speed: (number('recent_rows') * 1000) / Math.max(1, number('recent_ms')),
  };
}

/** The names of the settings that differ; none if the targets are the same. */
export function targetDifferences(run: RunTarget, worker: RunTarget): string[] {
  const names = {
    environment: 'environment',
    base_url: 'base URL',
    tenant_code: 'tenant code',
    channel: 'channel',
  };
  return Object.entries(names)
    .filter(([name]) => run[name as keyof RunTarget] !== worker[name as keyof RunTarget])
    .map(([, words]) => words);
}
