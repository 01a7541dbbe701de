import type { Sql, SqlDriver } from '../database/sql-driver.js';
import type { JobQueue } from './job-queue.js';
import { type ChunkPlace, type FilledChunk, parseChunk, type QueuedRow } from './lanes.js';
import { findOutcomes, type QueuedOutcome, recordOutcomes } from './outcomes.js';
import type { QueuedRun, RunState } from './run.js';
import { nowMs } from './schema.js';

const isPlace = 'run = $1 AND lane = $2 AND chunk = $3';
const isLast = "state = 'ready' AND chunks_done + 1 = chunks";

/** The statements about chunks. `$1` is always the run. */
const statements = {
  add:
    'INSERT INTO queue_chunks (run, lane, chunk, body, takes, done) SELECT $1, lane, chunk, body, 0, 0' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (lane BIGINT, chunk BIGINT, body TEXT)',
  setReady: "UPDATE queue_runs SET state = 'ready', chunks = $2 WHERE run = $1 AND state = 'loading'",
  /** A run cannot be cancelled while one of its chunks is taken. */
  lockReady: "SELECT run FROM queue_runs WHERE run = $1 AND state = 'ready' FOR SHARE",
  lease:
    `UPDATE queue_chunks SET job = $4, holder = $5, leased_until = ${nowMs} + $6, takes = takes + 1` +
    ` WHERE ${isPlace} AND done = 0 RETURNING body, takes, (SELECT COUNT(*) FROM queue_chunks other` +
    ' WHERE other.run = $1 AND other.lane = $2 AND other.chunk = $3 + 1) AS followers',
  /** Reserves the time for some more rows, so that all workers together keep to the rate. */
  takeTurn:
    `UPDATE queue_runs SET next_start = GREATEST(next_start, ${nowMs}) + $2 WHERE run = $1` +
    ` RETURNING next_start - $2 - ${nowMs} AS wait_ms`,
  renew:
    `UPDATE queue_chunks SET leased_until = ${nowMs} + $3 WHERE run = $1 AND holder = $2` +
    ' AND leased_until IS NOT NULL RETURNING job',
  stateOf: 'SELECT state FROM queue_runs WHERE run = $1',
  release:
    'UPDATE queue_chunks SET holder = NULL, leased_until = NULL WHERE run = $1 AND holder = $2' +
    ' AND leased_until IS NOT NULL RETURNING job',
  reclaim:
    'UPDATE queue_chunks SET holder = NULL, leased_until = NULL WHERE run = $1' +
    ` AND leased_until < ${nowMs} RETURNING job`,
  finish:
    'UPDATE queue_chunks SET done = 1, holder = NULL, leased_until = NULL,' +
    ` body = CASE WHEN $4 = 1 THEN body ELSE NULL END WHERE ${isPlace} AND done = 0`,
  /** Adds the outcomes of a chunk to those of its run. */
  count:
    'UPDATE queue_runs SET chunks_done = chunks_done + 1, ok = ok + added.ok_rows, failed = failed + added.failed_rows,' +
    ' invalid = invalid + added.invalid_rows, unknown = unknown + added.unknown_rows,' +
    ` state = CASE WHEN ${isLast} THEN 'done' ELSE state END,` +
    ` ended_at = CASE WHEN ${isLast} THEN ${nowMs} ELSE ended_at END FROM (SELECT` +
    " COUNT(*) FILTER (WHERE outcome = 'ok') AS ok_rows, COUNT(*) FILTER (WHERE outcome = 'failed') AS failed_rows," +
    " COUNT(*) FILTER (WHERE outcome = 'invalid') AS invalid_rows, COUNT(*) FILTER (WHERE outcome = 'unknown') AS unknown_rows" +
    ' FROM queue_outcomes WHERE run = $1 AND line = ANY (CAST($2 AS BIGINT[]))) AS added' +
    ' WHERE run = $1 RETURNING state',
  bodies:
    'SELECT lane, chunk, body FROM queue_chunks WHERE run = $1 AND (lane, chunk) > ($2, $3)' +
    ' ORDER BY lane, chunk LIMIT 1',
};

/** A chunk that a worker has taken. */
export interface TakenChunk extends ChunkPlace {
  readonly job: string;
  /** Whether its lane has a next chunk. */
  readonly hasNext: boolean;
  /** All of its lines. */
  readonly lines: readonly number[];
  /** The rows that have no outcome yet. */
  readonly open: readonly QueuedRow[];
  /** How long to wait before the first row is sent, in milliseconds. */
  readonly startsInMs: number;
}

/** The worker, and how long it may be silent before its chunks are given to others. */
export interface Holder {
  readonly holder: string;
  readonly leaseMs: number;
}

/**
 * The chunks of runs: which worker has them, and which are done. Statements whose results are not needed are sent
 * together.
 */
export class Chunks {
  readonly #driver: SqlDriver;
  readonly #jobs: JobQueue;

  constructor(driver: SqlDriver, jobs: JobQueue) {
    this.#driver = driver;
    this.#jobs = jobs;
  }

  /** Adds chunks to a run that is loading. */
  async add(run: string, chunks: readonly FilledChunk[]): Promise<void> {
    await this.#driver.write((sql) => sql.run(statements.add, [run, JSON.stringify(chunks)]));
  }

  /**
   * Completes a run: the first chunk of each lane may be taken.
   *
   * @returns whether the run was still loading
   */
  async release(run: string, count: number, lanes: Iterable<number>): Promise<boolean> {
    return await this.#driver.write(async (sql) => {
      if ((await sql.run(statements.setReady, [run, count])) === 0) return false;
      const places = [...lanes].map((lane) => ({ lane, chunk: 0 }));
      await this.#jobs.add(run, places, sql);
      return true;
    });
  }

  /** Takes a chunk of a run; `null` if there is none to take now. */
  async take({ run, rate }: QueuedRun, { holder, leaseMs }: Holder): Promise<TakenChunk | null> {
    return await this.#driver.write(async (sql) => {
      const job = await this.#jobs.take(run, sql);
      if (job === null) return null;
      const { id, lane, chunk } = job;
      const [ready, [leased]] = await Promise.all([
        sql.all(statements.lockReady, [run]),
        sql.all(statements.lease, [run, lane, chunk, id, holder, leaseMs]),
      ]);
      if (ready.length === 0 || typeof leased?.body !== 'string') {
        await this.#jobs.remove(run, id, sql); // the run was cancelled, or the chunk done, meanwhile
        return null;
      }
      const rows = parseChunk(leased.body);
      const lines = rows.map(({ line }) => line);
      const settled = Number(leased.takes) > 1 ? await findOutcomes(sql, run, lines) : null;
      const open = settled === null ? rows : rows.filter(({ line }) => !settled.has(line));
      const startsInMs = rate === null ? 0 : await takeTurn(sql, run, (open.length * 1000) / rate);
      return { lane, chunk, job: id, hasNext: Number(leased.followers) > 0, lines, open, startsInMs };
    });
  }

  /** Records outcomes before their chunks are done. */
  async record(run: string, given: readonly QueuedOutcome[]): Promise<void> {
    await this.#driver.write((sql) => recordOutcomes(sql, run, given));
  }

  /**
   * Ends a chunk whose rows all have an outcome: the next of its lane may be taken.
   *
   * @returns the state of the run
   */
  async finish(
    { run, keepsRows }: QueuedRun,
    taken: TakenChunk,
    given: readonly QueuedOutcome[],
  ): Promise<RunState> {
    const { lane, chunk, job, lines, hasNext } = taken;
    const state = await this.#driver.write(async (sql) => {
      const [, isMine] = await Promise.all([
        recordOutcomes(sql, run, given),
        sql.run(statements.finish, [run, lane, chunk, keepsRows ? 1 : 0]),
      ]);
      if (isMine === 0) return await stateOf(sql, run); // another worker did it meanwhile
      const [, , [counted]] = await Promise.all([
        this.#jobs.remove(run, job, sql),
        hasNext ? this.#jobs.add(run, [{ lane, chunk: chunk + 1 }], sql) : null,
        sql.all(statements.count, [run, `{${lines}}`]),
      ]);
      return counted?.state as RunState;
    });
    if (state === 'done') await this.#jobs.drop(run);
    return state;
  }

  /**
   * Renews the leases of a worker's chunks.
   *
   * @returns the jobs that are still its own, and the state of the run
   */
  async renew(
    run: string,
    { holder, leaseMs }: Holder,
  ): Promise<{ readonly jobs: ReadonlySet<string>; readonly state: RunState }> {
    return await this.#driver.write(async (sql) => {
      const renewed = sql.all(statements.renew, [run, holder, leaseMs]);
      const [rows, state] = await Promise.all([renewed, stateOf(sql, run)]);
      return { jobs: new Set(rows.map(({ job }) => String(job))), state };
    });
  }

  /** Returns all chunks that a worker holds of a run. */
  async handBack(run: string, { holder }: Holder): Promise<void> {
    await this.#giveBack(run, statements.release, [run, holder]);
  }

  /** Reclaims the chunks of workers that were silent for too long. */
  async reclaim(run: string): Promise<void> {
    await this.#giveBack(run, statements.reclaim, [run]);
  }

  async #giveBack(run: string, statement: string, values: readonly string[]): Promise<void> {
    await this.#driver.write(async (sql) => {
      const rows = await sql.all(statement, values);
      const jobs = rows.map(({ job }) => String(job));
      await this.#jobs.giveBack(run, jobs, sql);
    });
  }

  /** The rows of a run that are still in the queue, a chunk at a time. */
  async *kept(run: string): AsyncGenerator<readonly QueuedRow[]> {
    let at: readonly [number, number] = [-1, -1];
    for (;;) {
      const [row] = await this.#driver.read((sql) => sql.all(statements.bodies, [run, ...at]));
      if (row === undefined) return;
      at = [Number(row.lane), Number(row.chunk)];
      if (typeof row.body === 'string') yield parseChunk(row.body);
    }
  }
}

async function stateOf(sql: Sql, run: string): Promise<RunState> {
  const [row] = await sql.all(statements.stateOf, [run]);
  return (row?.state ?? 'cancelled') as RunState; // a run that no longer exists was purged
}

async function takeTurn(sql: Sql, run: string, durationMs: number): Promise<number> {
  const [row] = await sql.all(statements.takeTurn, [run, Math.ceil(durationMs)]);
  return Math.max(0, Number(row?.wait_ms ?? 0));
}
