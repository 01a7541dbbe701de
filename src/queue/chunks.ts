import type { Sql, SqlDriver } from '../database/sql-driver.js';
import { type ChunkPlace, type FilledChunk, parseChunk, type QueuedRow } from './chunk.js';
import { chunkStatements as statements } from './chunk-statements.js';
import type { JobQueue } from './job-queue.js';
import { findOutcomes, type QueuedOutcome, recordOutcomes } from './outcomes.js';
import type { QueuedRun, RunState } from './run.js';

/** A chunk that a worker has taken. */
export interface TakenChunk extends ChunkPlace {
  readonly job: string;
  /** Whether there is a next one in its lane. */
  readonly hasNext: boolean;
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

/** The chunks of runs: who does them, and which are done. Statements that need no answer are sent together. */
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

  /** Takes outcomes down before their chunks are done. */
  async record(run: string, given: readonly QueuedOutcome[]): Promise<void> {
    await this.#driver.write((sql) => recordOutcomes(sql, run, given));
  }

  /** Ends a chunk of which every row has its outcome: the next of its lane may be done. Gives the run's state. */
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
      if (isMine === 0) return await stateOf(sql, run); // another did it meanwhile
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

  /** Renews the leases of a worker's chunks. Gives the jobs of those that are still its own, and the state of the run. */
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
  return (row?.state ?? 'cancelled') as RunState; // a run that is gone was purged
}

async function takeTurn(sql: Sql, run: string, durationMs: number): Promise<number> {
  const [row] = await sql.all(statements.takeTurn, [run, Math.ceil(durationMs)]);
  return Math.max(0, Number(row?.wait_ms ?? 0));
}
