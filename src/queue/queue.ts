import { randomBytes } from 'node:crypto';
import type PgBoss from 'pg-boss';
import { type Outcome, outcomes } from '../bulk/outcome.js';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { FileRow } from '../bulk/source/rows.js';
import { StartError, StoreUnavailableError } from '../database/errors.js';
import { migrate } from '../database/migrations.js';
import { describePostgres, openPostgresDriver } from '../database/postgres-driver.js';
import type { SqlDriver, SqlParameter } from '../database/sql-driver.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { bossSchema, fetchJob, openBoss } from './boss.js';
import { cutIntoChunks } from './load-run.js';
import { type NewRun, type QueuedOutcome, type QueuedRun, queueSchema } from './run.js';

/** The current time, by the clock of the database; in milliseconds since 1970. */
const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';

/** The speed of a run, in rows a second, is an average in which rows of a minute ago count 1/e, like a load average. */
const weightOf = (time: string) => `exp(GREATEST(-99, (${time} - ${nowMs}) / 60000.0))`;
const speed = `COALESCE(speed * ${weightOf('recorded_at')}, 0)`;
/** The speed as it is shown: of the time since the start of the run if that is shorter. */
const shownSpeed =
  `CASE WHEN state = 'ready' AND recorded_at > ${nowMs} - 60000` +
  ` THEN ${speed} / (1 - ${weightOf(`LEAST(started_at, ${nowMs} - 1000)`)}) END`;

/** Before the name of a run: the name of its queue in pg-boss. */
const namePrefix = 'userinfo-';

/** A run is given by its properties, and stored with its state. */
const selectRuns =
  `SELECT given, json_build_object('run', run, 'state', state, ${outcomes.map((one) => `'${one}', ${one}`)},` +
  " 'done', ok + failed + invalid + unknown, 'not_ok', failed + invalid + unknown, 'rows_per_second'," +
  ` ${shownSpeed}, 'chunks', chunks, 'created_at', created_at / 1000, 'chunks_left', chunks_left, 'failed_chunks',` +
  " failed_chunks, 'workers', workers, 'ended_at', ended_at / 1000) AS stored FROM userinfo_runs, LATERAL (SELECT" +
  " COUNT(*) FILTER (WHERE state < 'completed') AS chunks_left, COUNT(*) FILTER (WHERE state = 'failed') AS" +
  " failed_chunks, COUNT(*) FILTER (WHERE state = 'active') AS workers" +
  ` FROM ${bossSchema}.job WHERE name = '${namePrefix}' || run) AS counted`;

const countsOf = (outcome: Outcome) => `COUNT(*) FILTER (WHERE outcome = '${outcome}') AS ${outcome}`;
const sumOf = (outcome: Outcome) => `${outcome} = runs.${outcome} + added.${outcome}`;

const statements = {
  add: `INSERT INTO userinfo_runs (run, state, given, created_at) VALUES ($1, 'loading', $2, ${nowMs})`,
  release: "UPDATE userinfo_runs SET state = 'ready', chunks = $2 WHERE run = $1 AND state = 'loading'",
  find: `${selectRuns} WHERE run = $1`,
  list: `${selectRuns} ORDER BY created_at, run`,
  ready: `${selectRuns} WHERE state = 'ready' ORDER BY created_at, run`,
  failedChunks: `SELECT id FROM ${bossSchema}.job WHERE name = $1 AND state = 'failed'`,
  outcomes: 'SELECT line, outcome, result FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $2 AND $3',
  /** The first outcome of a row counts: two workers may have sent it. */
  record:
    'WITH new AS (INSERT INTO userinfo_outcomes (run, line, outcome, result) SELECT $1, line, outcome, result' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (line BIGINT, outcome TEXT, result TEXT)' +
    ' WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = $1 FOR KEY SHARE)' +
    ' ORDER BY line ON CONFLICT (run, line) DO NOTHING RETURNING outcome),' +
    ` added AS (SELECT COUNT(*) AS "rows", ${outcomes.map(countsOf)} FROM new)` +
    ` UPDATE userinfo_runs runs SET started_at = COALESCE(started_at, ${nowMs}), recorded_at = ${nowMs},` +
    ` speed = ${speed} + added."rows" / 60.0, ${outcomes.map(sumOf)} FROM added WHERE run = $1 RETURNING state`,
  end:
    `UPDATE userinfo_runs SET state = 'done', ended_at = ${nowMs} WHERE run = $1 AND state = 'ready' AND` +
    ` NOT EXISTS (SELECT 1 FROM ${bossSchema}.job WHERE name = $2 AND state <> 'completed')`,
  cancel: `UPDATE userinfo_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', 'ready')`,
  partition: `SELECT partition_name FROM ${bossSchema}.queue WHERE name = $1`,
  deleteOutcomes:
    'DELETE FROM userinfo_outcomes WHERE run = $1 AND line IN' +
    ' (SELECT line FROM userinfo_outcomes WHERE run = $1 ORDER BY line LIMIT $2)',
  delete: 'DELETE FROM userinfo_runs WHERE run = $1',
};

/** Rows that one worker takes together. */
export interface TakenChunk {
  /** Of its job. */
  readonly id: string;
  readonly rows: readonly NdjsonRow[];
  /** When others may take it, as `elapsedMs` counts. */
  readonly leasedUntil: number;
}

/**
 * For how long the machine was suspended, or how far its clock was set ahead, in milliseconds. On Linux,
 * `performance.now()` stands still during a suspension.
 */
let suspendedMs = 0;

/** The age of the process in milliseconds. It never falls, unlike the clock of the machine. */
export function elapsedMs(): number {
  const now = performance.now();
  suspendedMs = Math.max(suspendedMs, Date.now() - performance.timeOrigin - now);
  return now + suspendedMs;
}

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
    let driver: SqlDriver | undefined;
    try {
      // A worker needs a connection for chunks, one for outcomes and one for maintenance.
      driver = await openPostgresDriver(url, { poolSize: 3, prepares: false });
      await migrate(driver, queueSchema);
      return new Queue(driver, await openBoss(driver));
    } catch (error) {
      await driver?.close();
      if (!(error instanceof StoreUnavailableError)) throw error;
      const message = `cannot open the queue ${describePostgres(url)}: ${error.message}`;
      throw new StartError('CANNOT_OPEN_DATABASE', message, { hint: error.hint, cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false });
    await this.#driver.close();
  }

  /**
   * Adds rows as one run, and returns its name: all of them, or none. After `leaseMs` milliseconds other workers may
   * take the chunk of a silent one. A run with a rate has one chunk under way at a time. A chunk that workers took
   * 1,000 times and did not finish has failed.
   *
   * @throws InvalidInputError if the run was cancelled meanwhile, and what reading the rows throws
   */
  async load(given: NewRun, leaseMs: number, batches: AsyncIterable<readonly FileRow[]>): Promise<string> {
    const run = randomBytes(5).toString('hex');
    const name = nameOf(run);
    await this.#driver.writeOnce(statements.add, [run, JSON.stringify(given)]);
    let fault: unknown = new InvalidInputError(`run ${run} was cancelled while it was loaded`);
    try {
      const policy = given.rate === null ? 'standard' : 'singleton';
      const expireInSeconds = Math.ceil(leaseMs / 1000);
      await this.#boss.createQueue(name, { name, policy, retryLimit: 1000, expireInSeconds });
      let chunks = 0;
      for await (const rows of cutIntoChunks(batches, given.rate)) {
        await this.#boss.insert([{ name, id: idOf(chunks), data: { rows } }]);
        chunks += 1;
      }
      if ((await this.#change(statements.release, run, chunks)) === 1) return run;
    } catch (error) {
      // Where another command has cancelled or deleted the run, that is the cause.
      const found = await this.#select(statements.find, run).catch(() => null);
      if (found === null || found[0]?.state === 'loading') fault = error;
    }
    // If the database is lost as well, the rest can be deleted.
    await this.purge(run).catch(() => {});
    throw fault;
  }

  /** @throws InvalidInputError if there is no such run */
  async find(run: string): Promise<QueuedRun> {
    const [found] = await this.#select(statements.find, run);
    if (found !== undefined) return found;
    throw new InvalidInputError(`there is no run ${quoteName(run)}: see "userinfo runs list"`);
  }

  /** All runs, or those that workers may process; the oldest first. */
  list(which: 'list' | 'ready' = 'list'): Promise<QueuedRun[]> {
    return this.#select(statements[which]);
  }

  /** Takes the chunk that has waited longest; `null` if there is none to take now. Without any, the run is done. */
  async take({ run, keepsRows }: QueuedRun): Promise<TakenChunk | null> {
    const askedAt = elapsedMs();
    const job = await fetchJob(this.#boss, nameOf(run));
    if (job !== undefined) {
      return { id: job.id, rows: rowsOf(job), leasedUntil: askedAt + Number(job.expireInSeconds) * 1000 };
    }
    const ended = await this.#change(statements.end, run, nameOf(run));
    if (ended === 1 && !keepsRows) await this.#drop(run);
    return null;
  }

  /** Records outcomes, except those of rows that have one, and returns the state of the run. */
  async record(run: string, recorded: readonly QueuedOutcome[]): Promise<QueuedRun['state']> {
    const [row] = await this.#driver.writeOnce(statements.record, [run, JSON.stringify(recorded)]);
    return (row?.state ?? 'cancelled') as QueuedRun['state']; // a run that no longer exists was purged
  }

  /** Ends a chunk, whoever holds it, if each of its rows has an outcome. */
  async finish({ run, keepsRows }: QueuedRun, { id, rows }: TakenChunk): Promise<void> {
    if ((await this.outcomes(run, rows)).size < rows.length) return;
    if (keepsRows) await this.#boss.complete(nameOf(run), id, {});
    else await this.#boss.deleteJob(nameOf(run), id);
  }

  /** Returns a chunk that is not done, unless another worker may have it by now. */
  async handBack(run: string, { id, leasedUntil }: TakenChunk): Promise<void> {
    if (elapsedMs() < leasedUntil) await this.#boss.fail(nameOf(run), id, {});
  }

  /**
   * Lets workers take failed chunks again, and returns their number.
   *
   * @throws InvalidInputError if no chunk of the run has failed
   */
  async retry(run: string): Promise<number> {
    await this.find(run);
    const failed = await this.#driver.read((sql) => sql.all(statements.failedChunks, [nameOf(run)]));
    const ids = failed.map(({ id }) => String(id));
    if (ids.length === 0) throw new InvalidInputError(`run ${run}: none of its chunks has failed`);
    await this.#boss.retry(nameOf(run), ids);
    return ids.length;
  }

  /**
   * Ends a run early: its workers stop, and its rows are removed unless it keeps them.
   *
   * @throws InvalidInputError if it has ended
   */
  async cancel(run: string): Promise<void> {
    const { state, keepsRows } = await this.find(run);
    const cancelled = await this.#change(statements.cancel, run);
    if (cancelled === 0) throw new InvalidInputError(`run ${run} is ${state}: there is nothing to cancel`);
    if (!keepsRows) await this.#drop(run);
  }

  /**
   * Removes everything about a run that workers do not process.
   *
   * @throws InvalidInputError if they may
   */
  async purge(run: string): Promise<void> {
    const { state } = await this.find(run);
    if (state === 'ready') throw new InvalidInputError(`run ${run} is not over: cancel it first`);
    await this.#drop(run);
    const { purgeRows } = this.#driver;
    const deleteOutcomes = async () => {
      while ((await this.#change(statements.deleteOutcomes, run, purgeRows)) === purgeRows);
    };
    await deleteOutcomes();
    await this.#change(statements.delete, run);
    await deleteOutcomes(); // what workers recorded meanwhile
  }

  /** The outcomes of those rows that have one, by line; the rows are in the order of the file. */
  async outcomes(run: string, rows: readonly Pick<FileRow, 'line'>[]): Promise<Map<number, QueuedOutcome>> {
    const lines = [rows[0]?.line ?? 0, rows.at(-1)?.line ?? 0];
    const found = await this.#driver.read((sql) => sql.all(statements.outcomes, [run, ...lines]));
    return new Map(found.map((row) => [Number(row.line), row as unknown as QueuedOutcome]));
  }

  /** The rows of a run that are still in the queue, a chunk at a time. */
  async *rows({ run, chunks }: QueuedRun): AsyncGenerator<readonly NdjsonRow[]> {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const job = await this.#boss.getJobById(nameOf(run), idOf(chunk));
      if (job !== null) yield rowsOf(job);
    }
  }

  /**
   * Removes the chunks of a run with their queue, also while it is loaded. Locks in the order of other statements, the
   * table before its partition. To delete many chunks takes longer than a statement may.
   */
  async #drop(run: string): Promise<void> {
    await this.#driver.write(async (sql) => {
      const [queue] = await sql.all(statements.partition, [nameOf(run)]);
      if (queue === undefined) return;
      await sql.run(`LOCK TABLE ONLY ${bossSchema}.job`);
      await sql.run(`TRUNCATE ${bossSchema}.${queue.partition_name}`);
      await sql.run(`SELECT ${bossSchema}.delete_queue($1)`, [nameOf(run)]);
    });
  }

  /** Runs a statement, and returns the number of changed rows. */
  #change(statement: string, ...values: readonly SqlParameter[]): Promise<number> {
    return this.#driver.write((sql) => sql.run(statement, values));
  }

  async #select(statement: string, ...values: readonly SqlParameter[]): Promise<QueuedRun[]> {
    const found = await this.#driver.read((sql) => sql.all(statement, values));
    const parse = (json: unknown) => JSON.parse(String(json));
    return found.map(({ given, stored }) => ({ ...parse(given), ...parse(stored) }));
  }
}

function nameOf(run: string): string {
  return `${namePrefix}${run}`;
}

/** The job of a chunk, counted from 0. */
function idOf(chunk: number): string {
  return `00000000-0000-4000-8000-${chunk.toString(16).padStart(12, '0')}`;
}

/** The driver returns everything but integers as text, unlike the types of pg-boss. */
function rowsOf({ data }: { readonly data: unknown }): readonly NdjsonRow[] {
  const { rows } = JSON.parse(String(data)) as { readonly rows: readonly NdjsonRow[] };
  return rows.map(({ line, json }) => new NdjsonRow(line, json));
}
