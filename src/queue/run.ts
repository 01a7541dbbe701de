import type { UserNaming } from '../bulk/operations.js';
import type { OutcomeCounts } from '../bulk/outcome.js';
import type { SqlRow } from '../database/sql-driver.js';

/** Where the rows of a run are sent. A worker does no rows for another deployment, tenant or channel than its own. */
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

/** A run in the queue. Times are milliseconds since 1970, by the clock of the database. */
export interface QueuedRun {
  readonly run: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly target: RunTarget;
  readonly naming: UserNaming;
  readonly source: RunSource;
  readonly rows: number;
  /** Maximum rows a second of all workers together; `null`: unlimited. */
  readonly rate: number | null;
  /** Whether its rows stay in the queue after they are done. */
  readonly keepsRows: boolean;
  readonly chunks: number;
  readonly chunksDone: number;
  /** Of the chunks that are done. */
  readonly counts: OutcomeCounts;
}

/** The properties of a new run. */
export type NewRun = Pick<QueuedRun, 'target' | 'naming' | 'source' | 'rows' | 'rate' | 'keepsRows'>;

export const runColumns =
  'run, state, created_at, ended_at, target, naming, source, row_count, rate, keeps_rows, chunks, chunks_done,' +
  ' ok, failed, invalid, unknown';

/** Converts a row of `runColumns`. */
export function toRun(row: SqlRow): QueuedRun {
  const number = (name: string) => Number(row[name]);
  const json = (name: string) => JSON.parse(String(row[name]));
  return {
    run: String(row.run),
    state: String(row.state) as RunState,
    createdAt: number('created_at'),
    endedAt: row.ended_at === null ? null : number('ended_at'),
    target: json('target'),
    naming: json('naming'),
    source: json('source'),
    rows: number('row_count'),
    rate: row.rate === null ? null : number('rate'),
    keepsRows: row.keeps_rows === 1,
    chunks: number('chunks'),
    chunksDone: number('chunks_done'),
    counts: {
      ok: number('ok'),
      failed: number('failed'),
      invalid: number('invalid'),
      unknown: number('unknown'),
    },
  };
}

/** The names of the settings that differ; none if the targets are the same. */
export function targetDifferences(run: RunTarget, worker: RunTarget): string[] {
  const names: readonly [keyof RunTarget, string][] = [
    ['environment', 'environment'],
    ['base_url', 'base URL'],
    ['tenant_code', 'tenant code'],
    ['channel', 'channel'],
  ];
  return names.filter(([name]) => run[name] !== worker[name]).map(([, words]) => words);
}
