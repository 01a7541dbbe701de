import { outcomes } from '../bulk/outcome.js';
import type { Sql, SqlDriver } from '../service/store/sql-driver.js';
import { type ChunkPlace, parseChunk, type QueuedRow } from './chunk.js';
import type { JobQueue } from './job-queue.js';
import { findOutcomes, type QueuedOutcome, recordOutcomes } from './outcomes.js';
import type { QueuedRun, RunState } from './run.js';
import { nowMs } from './schema.js';

/** A chunk that a worker has taken. */
export interface TakenChunk extends ChunkPlace {
  readonly job: string;
  /** All of its lines. */
  readonly lines: readonly number[];
  /** The rows that have no outcome yet. */
  readonly open: readonly QueuedRow[];
  /** How long to wait before its first row is sent, in milliseconds. */
  readonly startsInMs: number;
}

/** The worker that asks, and how long it may be silent before its chunks are given to others. */
export interface Holder {
  readonly holder: string;
  readonly leaseMs: number;
}

const isPlace = 'run = $1 AND lane = $2 AND chunk = $3';

const statements = {
  add:
    'INSERT INTO queue_chunks (run, lane, chunk, body, done) SELECT $1, lane, chunk, body, 0' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (lane BIGINT, chunk BIGINT, body TEXT)',
  setReady: "UPDATE queue_runs SET state = 'ready', chunks = $2 WHERE run = $1 AND state = 'loading'",
  /** It cannot be cancelled while a chunk of it is taken. */
  lockReady: "SELECT run FROM queue_runs WHERE run = $1 AND state = 'ready' FOR SHARE",
  lease:
    `UPDATE queue_chunks SET job = $4, holder = $5, leased_until = ${nowMs} + $6 WHERE ${isPlace} AND done = 0` +
    ' RETURNING body',
  /** When it is the turn of some more rows, so that all of them together keep to a rate. */
  takeTurn:
    `UPDATE queue_runs SET next_start = GREATEST(next_start, ${nowMs}) + $2 WHERE run = $1` +
    ` RETURNING next_start - $2 - ${nowMs} AS wait_ms`,
  renew: `UPDATE queue_chunks SET leased_until = ${nowMs} + $3 WHERE run = $1 AND holder = $2 AND leased_until IS NOT NULL`,
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
  next: `SELECT 1 AS found FROM queue_chunks WHERE ${isPlace}`,
  count:
    `UPDATE queue_runs SET chunks_done = chunks_done + 1, ok = ok + $2, failed = failed + $3,` +
    ' invalid = invalid + $4, unknown = unknown + $5,' +
    " state = CASE WHEN state = 'ready' AND chunks_done + 1 = chunks THEN 'done' ELSE state END," +
    ` ended_at = CASE WHEN state = 'ready' AND chunks_done + 1 = chunks THEN ${nowMs} ELSE ended_at END` +
    ' WHERE run = $1 RETURNING state',
  bodies:
    'SELECT lane, chunk, body FROM queue_chunks WHERE run = $1 AND (lane, chunk) > ($2, $3)' +
    ' ORDER BY lane, chunk LIMIT 1',
};

/** The chunks of runs: who does them, and which are done. */
export class Chunks {
  readonly #driver: SqlDriver;
  readonly #jobs: JobQueue;

  constructor(driver: SqlDriver, jobs: JobQueue) {
    this.#driver = driver;
    this.#jobs = jobs;
  }

  /** Adds chunks to a run that is loading. */
  async add(run: string, chunks: readonly (ChunkPlace & { readonly body: string })[]): Promise<void> {
    await this.#driver.write((sql) => sql.run(statements.add, [run, JSON.stringify(chunks)]));
  }

  /** All chunks are there: the first of each lane may be done. Gives whether the run was still loading. */
  async release(run: string, count: number, lanes: Iterable<number>): Promise<boolean> {
    return await this.#driver.write(async (sql) => {
      if ((await sql.run(statements.setReady, [run, count])) === 0) return false;
      const places = [...lanes].map((lane) => ({ lane, chunk: 0 }));
      await this.#jobs.add(run, places, sql);
      return true;
    });
  }

  /** Takes a chunk of a run; `null` where there is none to take now. */
  async take({ run, rate }: QueuedRun, { holder, leaseMs }: Holder): Promise<TakenChunk | null> {
    return await this.#driver.write(async (sql) => {
      const job = await this.#jobs.take(run, sql);
      if (job === null) return null;
      const { id, lane, chunk } = job;
      const isReady = (await sql.all(statements.lockReady, [run])).length > 0;
      const values = [run, lane, chunk, id, holder, leaseMs];
      const [row] = isReady ? await sql.all(statements.lease, values) : [];
      if (typeof row?.body !== 'string') {
        await this.#jobs.remove(run, id, sql);
        return null;
      }
      const rows = parseChunk(row.body);
      const lines = rows.map(({ line }) => line);
      const settled = await findOutcomes(sql, run, lines);
      const open = rows.filter(({ line }) => !settled.has(line));
      const startsInMs = rate === null ? 0 : await takeTurn(sql, run, (open.length * 1000) / rate);
      return { lane, chunk, job: id, lines, open, startsInMs };
    });
  }

  /** Takes outcomes down before their chunks are done. */
  async record(run: string, given: readonly QueuedOutcome[]): Promise<void> {
    await this.#driver.write((sql) => recordOutcomes(sql, run, given));
  }

  /** Ends a chunk of which every row has its outcome: the next of its lane may be done. Gives the run's state. */
  async finish(run: QueuedRun, taken: TakenChunk, given: readonly QueuedOutcome[]): Promise<RunState> {
    const state = await this.#driver.write(async (sql) => {
      await recordOutcomes(sql, run.run, given);
      return await this.#finish(run, taken, sql);
    });
    if (state === 'done') await this.#jobs.drop(run.run);
    return state;
  }

  async #finish({ run, keepsRows }: QueuedRun, taken: TakenChunk, sql: Sql): Promise<RunState> {
    const { lane, chunk, job, lines } = taken;
    const isMine = await sql.run(statements.finish, [run, lane, chunk, keepsRows ? 1 : 0]);
    if (isMine === 0) return await stateOf(sql, run); // another did it meanwhile
    const settled = [...(await findOutcomes(sql, run, lines)).values()];
    const counts = outcomes.map((one) => settled.filter(({ outcome }) => outcome === one).length);
    await this.#jobs.remove(run, job, sql);
    const [next] = await sql.all(statements.next, [run, lane, chunk + 1]);
    if (next !== undefined) await this.#jobs.add(run, [{ lane, chunk: chunk + 1 }], sql);
    const [counted] = await sql.all(statements.count, [run, ...counts]);
    return counted?.state as RunState;
  }

  /** Says that the holder of chunks is there; gives the state of their run. */
  async renew(run: string, { holder, leaseMs }: Holder): Promise<RunState> {
    return await this.#driver.write(async (sql) => {
      await sql.run(statements.renew, [run, holder, leaseMs]);
      return await stateOf(sql, run);
    });
  }

  /** Hands back all that a worker holds of a run. */
  async handBack(run: string, { holder }: Holder): Promise<void> {
    await this.#giveBack(run, statements.release, [run, holder]);
  }

  /** Takes their chunks from workers that have been silent for too long. */
  async reclaim(run: string): Promise<void> {
    await this.#giveBack(run, statements.reclaim, [run]);
  }

  async #giveBack(run: string, statement: string, values: readonly string[]): Promise<void> {
    await this.#driver.write(async (sql) => {
      const rows = await sql.all(statement, values);
      await this.#jobs.giveBack(
        run,
        rows.map(({ job }) => String(job)),
        sql,
      );
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
  return (row?.state ?? 'cancelled') as RunState; // a run that is gone was purged
}

async function takeTurn(sql: Sql, run: string, durationMs: number): Promise<number> {
  const [row] = await sql.all(statements.takeTurn, [run, Math.ceil(durationMs)]);
  return Math.max(0, Number(row?.wait_ms ?? 0));
}
