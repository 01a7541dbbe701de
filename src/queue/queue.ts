import { randomBytes } from 'node:crypto';
import type PgBoss from 'pg-boss';
import { type Outcome, outcomes } from '../bulk/outcome.js';
import { StartError, StoreUnavailableError } from '../database/errors.js';
import { migrate } from '../database/migrations.js';
import { describePostgres, openPostgresDriver } from '../database/postgres-driver.js';
import type { SqlDriver } from '../database/sql-driver.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { affected, changeAll, fetchJob, idOf, nameOf, openBoss, over, queueOptions, rowsOf } from './jobs.js';
import {
  type NewRun,
  nowMs,
  type QueuedOutcome,
  type QueuedRow,
  type QueuedRun,
  queueSchema,
  type RunState,
  selectRuns,
  speedAfter,
  type TakenChunk,
  toRun,
} from './run.js';

/** Maximum number of rows that one statement deletes: it must end before the time-out of statements. */
const deletedAtOnce = 20_000;

const countsOf = (outcome: Outcome) => `COUNT(*) FILTER (WHERE outcome = '${outcome}') AS ${outcome}`;
const sumOf = (outcome: Outcome) => `${outcome} = runs.${outcome} + added.${outcome}`;

const statements = {
  add: `INSERT INTO userinfo_runs (run, state, given, created_at) VALUES ($1, 'loading', $2, ${nowMs})`,
  countChunk: "UPDATE userinfo_runs SET chunks = chunks + 1 WHERE run = $1 AND state = 'loading'",
  release: "UPDATE userinfo_runs SET state = 'ready' WHERE run = $1 AND state = 'loading'",
  find: `${selectRuns} WHERE run = $1`,
  list: `${selectRuns} ORDER BY created_at, run`,
  ready: `${selectRuns} WHERE state = 'ready' ORDER BY created_at, run`,
  start: `UPDATE userinfo_runs SET started_at = ${nowMs} WHERE run = $1 AND started_at IS NULL`,
  outcomes: 'SELECT line, outcome, result FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $2 AND $3',
  /** The first outcome of a row counts: two workers may have sent it. */
  record:
    'WITH new AS (INSERT INTO userinfo_outcomes (run, line, outcome, result) SELECT $1, line, outcome, result' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (line BIGINT, outcome TEXT, result TEXT)' +
    ' WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = $1)' +
    ' ORDER BY line ON CONFLICT (run, line) DO NOTHING RETURNING outcome),' +
    ` added AS (SELECT COUNT(*) AS "rows", ${outcomes.map(countsOf).join(', ')} FROM new)` +
    ` UPDATE userinfo_runs runs SET recorded_at = ${nowMs}, speed = ${speedAfter('added."rows"')},` +
    ` ${outcomes.map(sumOf).join(', ')} FROM added WHERE run = $1 RETURNING state`,
  finish:
    'UPDATE userinfo_runs SET chunks_done = chunks_done + 1,' +
    " state = CASE WHEN chunks_done + 1 = chunks THEN 'done' ELSE state END," +
    ` ended_at = CASE WHEN chunks_done + 1 = chunks THEN ${nowMs} END` +
    " WHERE run = $1 AND state = 'ready' RETURNING state",
  cancel: `UPDATE userinfo_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', 'ready')`,
  deleteOutcomes:
    'DELETE FROM userinfo_outcomes WHERE run = $1 AND line IN' +
    ' (SELECT line FROM userinfo_outcomes WHERE run = $1 ORDER BY line LIMIT $2)',
  delete: 'DELETE FROM userinfo_runs WHERE run = $1',
};

/** Connections: a worker needs one for chunks, one for outcomes and one for maintenance. */
const poolSize = 3;

/**
 * A queue of runs in a PostgreSQL database, which many machines may share. A run is a queue of pg-boss, a chunk of its
 * rows a job.
 */
export class Queue {
  readonly #driver: SqlDriver;
  readonly #boss: PgBoss;

  private constructor(driver: SqlDriver, boss: PgBoss) {
    this.#driver = driver;
    this.#boss = boss;
  }

  /**
   * Opens the queue in a PostgreSQL database, and creates its tables if they do not exist.
   *
   * @throws StartError, which shows no password
   */
  static async open(url: string): Promise<Queue> {
    if (!/^postgres(?:ql)?:\/\//i.test(url)) {
      throw new StartError('CANNOT_OPEN_DATABASE', 'a queue is in PostgreSQL, and this is no URL of it', {
        hint: 'Give one such as postgres://user@host/database, the password in PGPASSWORD.',
      });
    }
    let driver: SqlDriver | undefined;
    try {
      driver = await openPostgresDriver(url, { poolSize, prepares: false });
      await migrate(driver, queueSchema);
      return new Queue(driver, await openBoss(driver));
    } catch (error) {
      await driver?.close();
      if (!(error instanceof StoreUnavailableError)) throw error;
      const message = `cannot open the queue ${describePostgres(url)}: ${error.message}`;
      const hint = error.hint === undefined ? {} : { hint: error.hint };
      throw new StartError('CANNOT_OPEN_DATABASE', message, { ...hint, cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false });
    await this.#driver.close();
  }

  /** Adds a run without rows, and returns its name. After `leaseMs` others may take the chunk of a silent worker. */
  async add(given: NewRun, leaseMs: number): Promise<string> {
    const run = randomBytes(5).toString('hex');
    await this.#driver.writeOnce(statements.add, [run, JSON.stringify(given)]);
    await this.#boss.createQueue(nameOf(run), queueOptions(run, leaseMs, given.rate !== null));
    return run;
  }

  /**
   * Adds a chunk to a run that is loading; they are counted from 0.
   *
   * @throws InvalidInputError if the run was cancelled
   */
  async load(run: string, chunk: number, rows: readonly QueuedRow[]): Promise<void> {
    await this.#driver.write(async (sql) => {
      if ((await sql.run(statements.countChunk, [run])) === 0) throw cancelledWhileLoading(run);
      await this.#boss.insert([{ name: nameOf(run), id: idOf(chunk), data: { rows } }], over(sql));
    });
  }

  /**
   * Lets workers take the chunks of a run, now that all are there.
   *
   * @throws InvalidInputError if it was cancelled
   */
  async release(run: string): Promise<void> {
    const released = await this.#driver.write((sql) => sql.run(statements.release, [run]));
    if (released === 0) throw cancelledWhileLoading(run);
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

  /**
   * How many chunks of a run wait or are in progress, how many of these workers hold, and how many no worker takes any
   * more because they failed too often.
   */
  async countChunks({ run, state, chunks, chunksDone }: QueuedRun) {
    const [waiting, open] = await Promise.all([
      this.#boss.getQueueSize(nameOf(run), { before: 'active' }),
      this.#boss.getQueueSize(nameOf(run), { before: 'completed' }),
    ]);
    const failed = state === 'ready' ? Math.max(0, chunks - chunksDone - open) : 0;
    return { open, held: Math.max(0, open - waiting), failed };
  }

  /** Takes the chunk that has waited longest; `null` if there is none to take now. */
  async take({ run, startedAt }: QueuedRun): Promise<TakenChunk | null> {
    const askedAt = performance.now();
    const job = await fetchJob(this.#boss, run);
    if (job === undefined) return null;
    if (startedAt === null) await this.#driver.writeOnce(statements.start, [run]);
    return {
      id: job.id,
      rows: rowsOf(job),
      takenAt: String(job.startedOn),
      leasedUntil: askedAt + Number(job.expireInSeconds) * 1000,
    };
  }

  /** Records outcomes, except those of rows that have one, and returns the state of the run. */
  async record(run: string, recorded: readonly QueuedOutcome[]): Promise<RunState> {
    const [row] = await this.#driver.writeOnce(statements.record, [run, JSON.stringify(recorded)]);
    return (row?.state ?? 'cancelled') as RunState; // a run that no longer exists was purged
  }

  /** Ends a chunk, whoever holds it, if each of its rows has an outcome. */
  async finish({ run, keepsRows, chunks }: QueuedRun, { id, rows }: TakenChunk): Promise<void> {
    if ((await this.outcomes(run, rows)).size < rows.length) return;
    const isDone = await this.#driver.write(async (sql) => {
      const ended = keepsRows
        ? this.#boss.complete(nameOf(run), id, {}, over(sql))
        : this.#boss.deleteJob(nameOf(run), id, over(sql));
      if ((await affected(ended)) === 0) return false; // another worker was earlier
      const [row] = await sql.all(statements.finish, [run]);
      return row?.state === 'done';
    });
    if (isDone && !keepsRows) await this.#drop(run, chunks);
  }

  /**
   * Returns a chunk that is not done, unless another worker has it by now. One that was returned too often without
   * progress has failed.
   */
  async handBack(run: string, { id, rows, takenAt }: TakenChunk, hasProgress: boolean): Promise<void> {
    await this.#driver.write(async (sql) => {
      const job = await this.#boss.getJobById(nameOf(run), id, { ...over(sql), includeArchive: false });
      if (job?.state !== 'active' || String(job.startedOn) !== takenAt) return;
      if (!hasProgress) return await this.#boss.fail(nameOf(run), id, {}, over(sql));
      await this.#boss.deleteJob(nameOf(run), id, over(sql));
      await this.#boss.insert([{ name: nameOf(run), id, data: { rows } }], over(sql));
    });
  }

  /**
   * Lets workers take failed chunks again, and returns their number.
   *
   * @throws InvalidInputError if no chunk of the run has failed
   */
  async retry(run: string): Promise<number> {
    const { state, chunks } = await this.find(run);
    const retried = await changeAll(chunks, (ids) => this.#boss.retry(nameOf(run), ids));
    if (retried === 0) throw new InvalidInputError(`run ${run} is ${state}: none of its chunks has failed`);
    return retried;
  }

  /**
   * Ends a run early: its workers stop, and its rows are removed.
   *
   * @throws InvalidInputError if it has ended
   */
  async cancel(run: string): Promise<void> {
    const { state, keepsRows, chunks } = await this.find(run);
    const cancelled = await this.#driver.write((sql) => sql.run(statements.cancel, [run]));
    if (cancelled === 0) throw new InvalidInputError(`run ${run} is ${state}: there is nothing to cancel`);
    if (keepsRows) await changeAll(chunks, (ids) => this.#boss.cancel(nameOf(run), ids));
    else await this.#drop(run, chunks);
  }

  /**
   * Removes everything about a run that workers do not process.
   *
   * @throws InvalidInputError if they may
   */
  async purge(run: string): Promise<void> {
    const { state, chunks } = await this.find(run);
    if (state === 'ready') {
      throw new InvalidInputError(`run ${run} is not over: workers may be at it`, {
        hint: `End it first: userinfo runs cancel ${run}`,
      });
    }
    await this.#drop(run, chunks);
    const deleteSome = () =>
      this.#driver.write((sql) => sql.run(statements.deleteOutcomes, [run, deletedAtOnce]));
    while ((await deleteSome()) === deletedAtOnce);
    await this.#driver.write((sql) => sql.run(statements.delete, [run]));
  }

  /** The outcomes of those rows that have one, by line; the rows are in the order of the file. */
  async outcomes(run: string, rows: readonly Pick<QueuedRow, 'line'>[]): Promise<Map<number, QueuedOutcome>> {
    const lines = [rows[0]?.line ?? 0, rows.at(-1)?.line ?? 0];
    const found = await this.#driver.read((sql) => sql.all(statements.outcomes, [run, ...lines]));
    return new Map(found.map((row) => [Number(row.line), row as unknown as QueuedOutcome]));
  }

  /** The rows of a run that are still in the queue, a chunk at a time. */
  async *rows({ run, chunks }: QueuedRun): AsyncGenerator<readonly QueuedRow[]> {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const job = await this.#boss.getJobById(nameOf(run), idOf(chunk));
      if (job !== null) yield rowsOf(job);
    }
  }

  /** Removes the chunks of a run with their queue. */
  async #drop(run: string, chunks: number): Promise<void> {
    await changeAll(chunks, (ids) => this.#boss.deleteJob(nameOf(run), ids));
    await this.#boss.deleteQueue(nameOf(run));
  }
}

function cancelledWhileLoading(run: string): InvalidInputError {
  return new InvalidInputError(`run ${run} was cancelled while it was loaded`);
}
