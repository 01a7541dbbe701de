import { randomBytes } from 'node:crypto';
import type { Outcome } from '../bulk/outcome.js';
import { StartError, StoreUnavailableError } from '../database/errors.js';
import { migrate } from '../database/migrations.js';
import { describePostgres, openPostgresDriver } from '../database/postgres-driver.js';
import type { Sql, SqlDriver } from '../database/sql-driver.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import { isOneAtATime, Jobs } from './jobs.js';
import { type Chunk, parseRows, type QueuedRow } from './load-run.js';
import { type NewRun, type QueuedRun, type RunState, selectRuns, toRun } from './run.js';
import { nowMs, queueSchema } from './schema.js';

/** The outcome of a row of a run. */
export interface QueuedOutcome {
  readonly line: number;
  readonly outcome: Outcome;
  /** The part of its results line that `formatOutcome` writes. */
  readonly result: string;
}

/** A chunk that a worker has taken. */
export interface TakenChunk {
  readonly chunk: number;
  /** After this time others may take it; in milliseconds. */
  readonly leaseMs: number;
  /** The rows that have no outcome yet. */
  readonly rows: readonly QueuedRow[];
}

/** Maximum number of rows that one statement deletes: it must end before the time-out of statements. */
const deletedAtOnce = 20_000;

const isChunk = 'run = $1 AND chunk = $2';
const counted = (outcome: Outcome) =>
  `${outcome} = ${outcome} + (SELECT COUNT(*) FROM added WHERE outcome = '${outcome}')`;

const statements = {
  addRun: `INSERT INTO userinfo_runs (run, state, given, created_at) VALUES ($1, 'loading', $2, ${nowMs})`,
  addChunks:
    'INSERT INTO userinfo_chunks (run, chunk, row_count, body) SELECT $1, chunk, "rows", body' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (chunk BIGINT, "rows" BIGINT, body TEXT)',
  release: "UPDATE userinfo_runs SET state = 'ready', chunks = $2 WHERE run = $1 AND state = 'loading'",
  find: `${selectRuns} WHERE runs.run = $1`,
  list: `${selectRuns} ORDER BY created_at, run`,
  ready: `${selectRuns} WHERE state = 'ready' ORDER BY created_at, run`,
  take: `UPDATE userinfo_chunks SET holder = $3, taken_at = ${nowMs} WHERE ${isChunk} AND done_at IS NULL RETURNING body`,
  outcomes: 'SELECT line, outcome, result FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $2 AND $3',
  /** The first outcome of a row counts: two workers may have sent it. */
  record:
    'WITH added AS (INSERT INTO userinfo_outcomes (run, line, outcome, result) SELECT $1, line, outcome, result' +
    ' FROM json_to_recordset(CAST($3 AS JSON)) AS given (line BIGINT, outcome TEXT, result TEXT)' +
    ' ORDER BY line ON CONFLICT (run, line) DO NOTHING RETURNING outcome)' +
    ` UPDATE userinfo_chunks SET recorded_at = ${nowMs}, ${(['ok', 'failed', 'invalid', 'unknown'] as const).map(counted)}` +
    ` WHERE ${isChunk} RETURNING (SELECT state FROM userinfo_runs WHERE run = $1) AS state`,
  finish:
    `UPDATE userinfo_chunks SET done_at = ${nowMs}, body = CASE WHEN $3 = 1 THEN body END WHERE ${isChunk}` +
    ' AND done_at IS NULL AND ok + failed + invalid + unknown = row_count',
  countChunk:
    'UPDATE userinfo_runs SET chunks_done = chunks_done + 1,' +
    " state = CASE WHEN state = 'ready' AND chunks_done + 1 = chunks THEN 'done' ELSE state END," +
    ` ended_at = CASE WHEN state = 'ready' AND chunks_done + 1 = chunks THEN ${nowMs} ELSE ended_at END` +
    ' WHERE run = $1 RETURNING state',
  handBack: `UPDATE userinfo_chunks SET holder = NULL WHERE ${isChunk} AND holder = $3 AND done_at IS NULL`,
  openChunks: 'SELECT chunk FROM userinfo_chunks WHERE run = $1 AND done_at IS NULL',
  cancel: `UPDATE userinfo_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', 'ready')`,
  kept: 'SELECT chunk, body FROM userinfo_chunks WHERE run = $1 AND chunk > $2 ORDER BY chunk LIMIT 1',
  removeBodies:
    'UPDATE userinfo_chunks SET body = NULL, holder = NULL WHERE run = $1 AND chunk IN' +
    ' (SELECT chunk FROM userinfo_chunks WHERE run = $1 AND body IS NOT NULL LIMIT $2)',
  removeChunks:
    'DELETE FROM userinfo_chunks WHERE run = $1 AND chunk IN (SELECT chunk FROM userinfo_chunks WHERE run = $1 LIMIT $2)',
  removeOutcomes:
    'DELETE FROM userinfo_outcomes WHERE run = $1 AND line IN' +
    ' (SELECT line FROM userinfo_outcomes WHERE run = $1 ORDER BY line LIMIT $2)',
  removeRun: 'DELETE FROM userinfo_runs WHERE run = $1',
};

/** Connections: a worker needs one for chunks, one for outcomes and one for maintenance. */
const poolSize = 3;

/** A queue of runs in a PostgreSQL database, which many machines may share. pg-boss hands out the chunks of a run. */
export class Queue {
  readonly #driver: SqlDriver;
  readonly #jobs: Jobs;

  private constructor(driver: SqlDriver, jobs: Jobs) {
    this.#driver = driver;
    this.#jobs = jobs;
  }

  /**
   * Opens the queue in a PostgreSQL database, and creates its tables if they do not exist.
   *
   * @throws StartError, which shows no password
   */
  static async open(url: string, options: { readonly maintains: boolean }): Promise<Queue> {
    if (!/^postgres(?:ql)?:\/\//i.test(url)) {
      throw new StartError('CANNOT_OPEN_DATABASE', 'a queue is in PostgreSQL, and this is no URL of it', {
        hint: 'Give one such as postgres://user@host/database, the password in PGPASSWORD.',
      });
    }
    try {
      const driver = await openPostgresDriver(url, { poolSize, prepares: false });
      try {
        await migrate(driver, queueSchema);
        return new Queue(driver, await Jobs.open(driver, options));
      } catch (error) {
        await driver.close();
        throw error;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      const message = `cannot open the queue ${describePostgres(url)}: ${error.message}`;
      const hint = error.hint === undefined ? {} : { hint: error.hint };
      throw new StartError('CANNOT_OPEN_DATABASE', message, { ...hint, cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#jobs.close();
    await this.#driver.close();
  }

  /** Adds a run without rows, and returns its name. After `leaseMs` others may take the chunk of a silent worker. */
  async add(given: NewRun, leaseMs: number): Promise<string> {
    const run = randomBytes(5).toString('hex');
    await this.#driver.write((sql) => sql.run(statements.addRun, [run, JSON.stringify(given)]));
    await this.#jobs.create(run, leaseMs, given.rate !== null);
    return run;
  }

  /** Adds chunks to a run that is loading. */
  async load(run: string, chunks: readonly Chunk[]): Promise<void> {
    await this.#driver.write(async (sql) => {
      const numbers = chunks.map(({ chunk }) => chunk);
      await Promise.all([
        sql.run(statements.addChunks, [run, JSON.stringify(chunks)]),
        this.#jobs.add(run, numbers, sql),
      ]);
    });
  }

  /**
   * Completes a run of so many chunks: workers may take them.
   *
   * @returns whether the run was still loading
   */
  async release(run: string, chunks: number): Promise<boolean> {
    return (await this.#driver.write((sql) => sql.run(statements.release, [run, chunks]))) > 0;
  }

  /** @throws InvalidInputError if there is no such run */
  async find(run: string): Promise<QueuedRun> {
    const [row] = await this.#driver.read((sql) => sql.all(statements.find, [run]));
    if (row !== undefined) return toRun(row);
    throw new InvalidInputError(`there is no run ${quoteName(run)}`, {
      hint: '"userinfo runs list" shows those that there are.',
    });
  }

  /** All runs, or those that workers may process; the oldest first. */
  async list(which: 'list' | 'ready' = 'list'): Promise<QueuedRun[]> {
    return (await this.#driver.read((sql) => sql.all(statements[which]))).map(toRun);
  }

  /** The number of chunks that wait or are under way. */
  countOpen({ run }: QueuedRun): Promise<number> {
    return this.#jobs.count(run);
  }

  /** The number of chunks that workers no longer take, because they failed too often. */
  async countFailed(run: QueuedRun): Promise<number> {
    return run.state === 'ready' ? run.chunks - run.chunksDone - (await this.countOpen(run)) : 0;
  }

  /** Takes a chunk of a run; `null` if there is none to take now. */
  async take({ run }: QueuedRun, holder: string): Promise<TakenChunk | null> {
    try {
      return await this.#driver.write(async (sql) => {
        const job = await this.#jobs.take(run, sql);
        if (job === null) return null;
        const [row] = await sql.all(statements.take, [run, job.chunk, holder]);
        if (typeof row?.body !== 'string') {
          await this.#jobs.remove(run, job.chunk, sql); // the run was cancelled meanwhile
          return null;
        }
        const rows = parseRows(row.body);
        const done = await findOutcomes(sql, run, rows);
        return { ...job, rows: rows.filter(({ line }) => !done.has(line)) };
      });
    } catch (error) {
      if (isOneAtATime(error)) return null;
      throw error;
    }
  }

  /** Records outcomes, except those of rows that have one, and returns the state of the run. */
  async record(run: string, chunk: number, outcomes: readonly QueuedOutcome[]): Promise<RunState> {
    const values = [run, chunk, JSON.stringify(outcomes)];
    const [row] = await this.#driver.write((sql) => sql.all(statements.record, values));
    return (row?.state ?? 'cancelled') as RunState; // a run that no longer exists was purged
  }

  /** Ends a chunk if each of its rows has an outcome. */
  async finish({ run, keepsRows }: QueuedRun, chunk: number): Promise<void> {
    const state = await this.#driver.write(async (sql) => {
      if ((await sql.run(statements.finish, [run, chunk, keepsRows ? 1 : 0])) === 0) return null;
      const [[row]] = await Promise.all([
        sql.all(statements.countChunk, [run]),
        this.#jobs.remove(run, chunk, sql),
      ]);
      return row?.state;
    });
    if (state === 'done') await this.#jobs.drop(run, []);
  }

  /** Returns a chunk that is not done; one of which too often nothing was done has failed. */
  async handBack(run: string, chunk: number, holder: string, hasProgress: boolean): Promise<void> {
    await this.#driver.write(async (sql) => {
      // Another worker has it if this one is too late.
      if ((await sql.run(statements.handBack, [run, chunk, holder])) === 0) return;
      if (!hasProgress) return await this.#jobs.fail(run, chunk, sql);
      await this.#jobs.remove(run, chunk, sql);
      await this.#jobs.add(run, [chunk], sql);
    });
  }

  /**
   * Lets workers take failed chunks again, and returns their number.
   *
   * @throws InvalidInputError if no chunk of the run has failed
   */
  async retry(name: string): Promise<number> {
    const run = await this.find(name);
    const failed = await this.countFailed(run);
    if (failed === 0)
      throw new InvalidInputError(`run ${name} is ${run.state}: none of its chunks has failed`);
    await this.#jobs.retry(name, await this.#openChunks(name));
    return failed;
  }

  /**
   * Ends a run early: its workers stop, and its rows are removed.
   *
   * @throws InvalidInputError if it has ended
   */
  async cancel(run: string): Promise<void> {
    const { state, keepsRows } = await this.find(run);
    const cancelled = await this.#driver.write((sql) => sql.run(statements.cancel, [run]));
    if (cancelled === 0) throw new InvalidInputError(`run ${run} is ${state}: there is nothing to cancel`);
    await this.#jobs.drop(run, await this.#openChunks(run));
    if (!keepsRows) await this.#inParts(statements.removeBodies, run);
  }

  /**
   * Removes everything about a run that workers do not process.
   *
   * @throws InvalidInputError if they may
   */
  async purge(run: string): Promise<void> {
    const { state } = await this.find(run);
    if (state === 'ready') {
      throw new InvalidInputError(`run ${run} is not over: workers may be at it`, {
        hint: `End it first: userinfo runs cancel ${run}`,
      });
    }
    await this.#jobs.drop(run, await this.#openChunks(run));
    await this.#inParts(statements.removeChunks, run);
    await this.#inParts(statements.removeOutcomes, run);
    await this.#driver.write((sql) => sql.run(statements.removeRun, [run]));
  }

  /** The outcomes of those rows that have one, by line; the rows are in the order of the file. */
  outcomes(run: string, rows: readonly { readonly line: number }[]): Promise<Map<number, QueuedOutcome>> {
    return this.#driver.read((sql) => findOutcomes(sql, run, rows));
  }

  /** The rows of a run that are still in the queue, a chunk at a time. */
  async *rows(run: string): AsyncGenerator<readonly QueuedRow[]> {
    for (let last = -1; ; ) {
      const [row] = await this.#driver.read((sql) => sql.all(statements.kept, [run, last]));
      if (row === undefined) return;
      last = Number(row.chunk);
      if (typeof row.body === 'string') yield parseRows(row.body);
    }
  }

  async #openChunks(run: string): Promise<number[]> {
    const rows = await this.#driver.read((sql) => sql.all(statements.openChunks, [run]));
    return rows.map(({ chunk }) => Number(chunk));
  }

  async #inParts(statement: string, run: string): Promise<void> {
    const changeSome = () => this.#driver.write((sql) => sql.run(statement, [run, deletedAtOnce]));
    while ((await changeSome()) === deletedAtOnce);
  }
}

async function findOutcomes(
  sql: Sql,
  run: string,
  rows: readonly { readonly line: number }[],
): Promise<Map<number, QueuedOutcome>> {
  const found = await sql.all(statements.outcomes, [run, rows[0]?.line ?? 0, rows.at(-1)?.line ?? 0]);
  const outcomes = found.map(
    ({ line, outcome, result }) =>
      ({ line: Number(line), outcome: String(outcome) as Outcome, result: String(result) }) as const,
  );
  return new Map(outcomes.map((outcome) => [outcome.line, outcome]));
}
