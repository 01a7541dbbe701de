import { randomBytes } from 'node:crypto';
import { passbackOperation, userOf } from '../bulk/operations.js';
import { type Outcome, outcomes } from '../bulk/outcome.js';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { FileRow } from '../bulk/source/rows.js';
import { StartError, StoreUnavailableError } from '../database/errors.js';
import { migrate } from '../database/migrations.js';
import { describePostgres, openPostgresDriver } from '../database/postgres-driver.js';
import type { Sql, SqlDriver, SqlParameter } from '../database/sql-driver.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { elapsedMs } from '../support/elapsed.js';
import { cutIntoChunks, type UserDigests } from './load-run.js';
import { type NewRun, type QueuedOutcome, type QueuedRun, queueSchema, targetDifferences } from './run.js';

/** The current time, by the clock of the database; in milliseconds since 1970. */
const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';

/** Maximum numbers that one statement removes: one for all might take too long. */
const [maxRemovedChunks, maxRemovedOutcomes] = [100, 5000];
/** Maximum number of times that workers take a chunk. */
const maxTakings = 1000;
const isLeased = `leased_until > ${nowMs}`;
const hasFailed = `NOT done AND NOT ${isLeased} AND takings >= ${maxTakings}`;

/** The properties of a run, its state and its counts. A cancelled run is awaited until its last lease has ended. */
const selectRuns = (condition: string) => `SELECT properties, run, state, ${outcomes.join(', ')},
  ok + failed + invalid + unknown AS done, failed + invalid + unknown AS not_ok, (
    SELECT COALESCE(json_agg(awaited), '[]') FROM json_array_elements_text(CAST(waits_for AS JSON)) AS awaited
    WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = awaited AND state = 'ready')
    OR EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = awaited AND ${isLeased})) AS waits_for,
  chunks, chunks_left, failed_chunks, workers, created_at / 1000 AS created_at, ended_at / 1000 AS ended_at
  FROM userinfo_runs, LATERAL (SELECT COUNT(*) AS chunks,
    COUNT(*) FILTER (WHERE NOT done AND NOT (${hasFailed})) AS chunks_left,
    COUNT(*) FILTER (WHERE ${hasFailed}) AS failed_chunks, COUNT(*) FILTER (WHERE ${isLeased}) AS workers
    FROM userinfo_chunks WHERE userinfo_chunks.run = userinfo_runs.run) AS counted
  WHERE ${condition} ORDER BY created_at, run`;

const countsOf = (outcome: Outcome) => `COUNT(*) FILTER (WHERE outcome = '${outcome}') AS ${outcome}`;
const sumOf = (outcome: Outcome) => `${outcome} = runs.${outcome} + added.${outcome}`;

const statements = {
  add: `INSERT INTO userinfo_runs (run, state, properties, created_at) VALUES ($1, 'loading', $2, ${nowMs})`,
  addChunk: `INSERT INTO userinfo_chunks (run, chunk, data) SELECT run, CAST($2 AS BIGINT), $3 FROM userinfo_runs
    WHERE run = $1 AND state = 'loading' FOR SHARE`,
  /** Conflicts with itself, and with nothing else that the queue does. */
  lockReleases: 'LOCK TABLE userinfo_runs IN SHARE UPDATE EXCLUSIVE MODE',
  release: "UPDATE userinfo_runs SET state = 'ready', waits_for = $2 WHERE run = $1 AND state = 'loading'",
  find: selectRuns('run = $1'),
  list: selectRuns('true'),
  ready: selectRuns("state = 'ready'"),
  unfinished: selectRuns("state = 'ready' OR (state = 'cancelled' AND workers > 0)"),
  lockRun: "SELECT 1 FROM userinfo_runs WHERE run = $1 AND state = 'ready' FOR NO KEY UPDATE",
  take: `UPDATE userinfo_chunks SET takings = takings + 1, leased_until = ${nowMs} + $2
    WHERE run = $1 AND chunk = (SELECT chunk FROM userinfo_chunks WHERE run = $1 AND NOT done AND NOT ${isLeased}
      AND takings < ${maxTakings} ORDER BY chunk LIMIT 1 FOR UPDATE SKIP LOCKED)
    AND ($3 = 0 OR NOT EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = $1 AND ${isLeased}))
    RETURNING chunk, data, leased_until`,
  end: `UPDATE userinfo_runs SET state = 'done', ended_at = ${nowMs} WHERE run = $1 AND state = 'ready'
    AND NOT EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = $1 AND NOT done)`,
  /** The first outcome of a row counts: two workers may have sent it. Returns a row if the worker is to continue. */
  record: `WITH new AS (INSERT INTO userinfo_outcomes (run, line, outcome, result) SELECT $1, line, outcome, result
      FROM json_to_recordset(CAST($4 AS JSON)) AS given (line BIGINT, outcome TEXT, result TEXT)
      WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = $1 FOR KEY SHARE)
      ORDER BY line ON CONFLICT (run, line) DO NOTHING RETURNING outcome),
    added AS (SELECT COUNT(*) AS "rows", ${outcomes.map(countsOf)} FROM new),
    counted AS (UPDATE userinfo_runs runs SET ${outcomes.map(sumOf)} FROM added WHERE run = $1 AND added."rows" > 0)
    SELECT 1 FROM userinfo_chunks JOIN userinfo_runs USING (run)
    WHERE run = $1 AND chunk = $2 AND leased_until = $3 AND ${isLeased} AND state = 'ready'`,
  /** Ends a chunk whose rows all have outcomes, whoever has it. Returns another, unless it was taken meanwhile. */
  finish: `UPDATE userinfo_chunks SET leased_until = 0, done = done OR complete,
    data = CASE WHEN complete AND $7 = 0 THEN NULL ELSE data END
    FROM (SELECT COUNT(*) >= $5 AS complete FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $3 AND $4) AS found
    WHERE run = $1 AND chunk = $2 AND (complete OR leased_until = $6)`,
  retry: `UPDATE userinfo_chunks SET takings = 0 WHERE run = $1 AND ${hasFailed}`,
  stop: `UPDATE userinfo_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', $2)`,
  /** The leases stay: they say that requests may be under way. */
  removeData: `UPDATE userinfo_chunks SET data = NULL, done = true WHERE run = $1 AND chunk IN
    (SELECT chunk FROM userinfo_chunks WHERE run = $1 AND data IS NOT NULL LIMIT ${maxRemovedChunks})`,
  removeChunks: `DELETE FROM userinfo_chunks WHERE run = $1 AND chunk IN
    (SELECT chunk FROM userinfo_chunks WHERE run = $1 LIMIT ${maxRemovedChunks})`,
  removeOutcomes: `DELETE FROM userinfo_outcomes WHERE run = $1 AND line IN
    (SELECT line FROM userinfo_outcomes WHERE run = $1 ORDER BY line LIMIT ${maxRemovedOutcomes})`,
  removeRun: 'DELETE FROM userinfo_runs WHERE run = $1',
  outcomes: 'SELECT line, outcome, result FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $2 AND $3',
  nextChunk: `SELECT chunk, data FROM userinfo_chunks
    WHERE run = $1 AND chunk > $2 AND data IS NOT NULL ORDER BY chunk LIMIT 1`,
};

/** Rows that one worker takes together. */
export interface TakenChunk {
  readonly run: QueuedRun;
  readonly chunk: number;
  readonly rows: readonly NdjsonRow[];
  /** When others may take it, by the clock of the database: it tells this taking from all others. */
  readonly lease: number;
  /** The same or a little earlier, as `elapsedMs` counts. */
  readonly leasedUntil: number;
}

/** A queue of runs in a PostgreSQL database, which many machines may share. */
export class Queue {
  readonly #driver: SqlDriver;

  private constructor(driver: SqlDriver) {
    this.#driver = driver;
  }

  /**
   * Opens the queue in a PostgreSQL database, and creates its tables if they do not exist.
   *
   * @throws StartError, which shows no password
   */
  static async open(url: string): Promise<Queue> {
    let driver: SqlDriver | undefined;
    try {
      // A worker needs a connection for chunks and one for outcomes.
      driver = await openPostgresDriver(url, { poolSize: 2, prepares: false });
      await migrate(driver, queueSchema);
      return new Queue(driver);
    } catch (error) {
      await driver?.close();
      if (!(error instanceof StoreUnavailableError)) throw error;
      const message = `cannot open the queue ${describePostgres(url)}: ${error.message}`;
      throw new StartError('CANNOT_OPEN_DATABASE', message, { hint: error.hint, cause: error });
    }
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  /**
   * Adds rows as one run: all of them, or none. `users` are theirs, sorted. The run waits for those that were added
   * before and name some of its users to the same target. A run with a rate has one chunk under way at a time. A chunk
   * that workers took 1,000 times and did not finish has failed.
   *
   * @throws AbortError once `signal` is aborted, InvalidInputError if the run was cancelled meanwhile, and what reading
   * the rows throws
   */
  async load(
    given: NewRun,
    users: UserDigests,
    batches: AsyncIterable<readonly FileRow[]>,
    signal: AbortSignal,
  ): Promise<Pick<QueuedRun, 'run' | 'waits_for'>> {
    const run = randomBytes(5).toString('hex');
    await this.#driver.writeOnce(statements.add, [run, JSON.stringify(given)]);
    try {
      let chunk = 0;
      for await (const rows of cutIntoChunks(batches, given.rate)) {
        signal.throwIfAborted();
        requireLoading(run, await this.#change(statements.addChunk, run, chunk, JSON.stringify(rows)));
        chunk += 1;
      }
      return { run, waits_for: await this.#release(run, given, users, signal) };
    } catch (error) {
      const found = await this.find(run).catch(() => null);
      if (found?.state === 'ready') return found; // only the answer of the database was lost
      // If the database is lost as well, the rest can be deleted.
      await this.purge(run).catch(() => {});
      throw error;
    }
  }

  /**
   * Makes a run ready, as soon as it is compared with all that are unfinished, and returns those that it waits for.
   * Runs become ready one by one.
   */
  async #release(run: string, given: NewRun, users: UserDigests, signal: AbortSignal): Promise<string[]> {
    const compared = new Map<string, boolean>();
    for (;;) {
      const { added, waitsFor } = await this.#driver.write(async (sql) => {
        await sql.run(statements.lockReleases);
        const unfinished = await select(sql, statements.unfinished);
        const others = unfinished.filter(({ target }) => targetDifferences(target, given.target) === '');
        const added = others.filter((other) => !compared.has(other.run));
        // Requests of a cancelled run may be under way, though its rows are gone.
        const awaited = others.filter((other) => other.state === 'cancelled' || compared.get(other.run));
        const waitsFor = awaited.map((other) => other.run);
        const values = [run, JSON.stringify(waitsFor)];
        if (added.length === 0) requireLoading(run, await sql.run(statements.release, values));
        return { added, waitsFor };
      });
      if (added.length === 0) return waitsFor;
      for (const other of added) compared.set(other.run, await this.#mayShare(other, given, users, signal));
    }
  }

  /** Whether a row of a run that is still in the queue has one of `users`, or nobody can say. */
  async #mayShare(
    run: QueuedRun,
    { naming }: NewRun,
    users: UserDigests,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (JSON.stringify(run.naming) !== JSON.stringify(naming)) return true;
    const operation = passbackOperation(naming);
    for await (const rows of this.rows(run)) {
      signal.throwIfAborted();
      if (rows.some((row) => users.has(userOf(row, operation) ?? ''))) return true;
    }
    return false;
  }

  /** @throws InvalidInputError if there is no such run */
  async find(run: string): Promise<QueuedRun> {
    const [found] = await this.#driver.read((sql) => select(sql, statements.find, run));
    if (found !== undefined) return found;
    throw new InvalidInputError(`there is no run ${quoteName(run)}`, {
      hint: 'The runs of this queue are listed by "userinfo runs list".',
    });
  }

  /** All runs, or those that workers may process; the oldest first. */
  list(which: 'list' | 'ready' = 'list'): Promise<QueuedRun[]> {
    return this.#driver.read((sql) => select(sql, statements[which]));
  }

  /** Takes the first chunk that no worker has; `null` if there is none to take now. Without any, the run is done. */
  async take(given: QueuedRun): Promise<TakenChunk | null> {
    const { run, rate, leaseMs, waits_for } = given;
    if (waits_for.length > 0) return null; // it never waits again once it does not
    return await this.#driver.write(async (sql) => {
      const askedAt = elapsedMs();
      // One by one: what comes next sees what another worker took.
      if ((await sql.all(statements.lockRun, [run])).length === 0) return null;
      const [taken] = await sql.all(statements.take, [run, leaseMs, rate === null ? 0 : 1]);
      if (taken === undefined) {
        await sql.run(statements.end, [run]);
        return null;
      }
      const [chunk, lease] = [Number(taken.chunk), Number(taken.leased_until)];
      return { run: given, chunk, rows: rowsOf(taken.data), lease, leasedUntil: askedAt + leaseMs };
    });
  }

  /**
   * Records outcomes, except those of rows that have one. Returns whether the worker still has the chunk, and is to
   * continue with it.
   */
  async record({ run, chunk, lease }: TakenChunk, recorded: readonly QueuedOutcome[]): Promise<boolean> {
    const values = [run.run, chunk, lease, JSON.stringify(recorded)];
    return (await this.#driver.writeOnce(statements.record, values)).length > 0;
  }

  /** Ends a chunk whose rows all have outcomes, and hands another back. */
  async finish({ run, chunk, rows, lease }: TakenChunk): Promise<void> {
    const keeps = run.keepsRows ? 1 : 0;
    await this.#change(statements.finish, run.run, chunk, ...linesOf(rows), rows.length, lease, keeps);
  }

  /**
   * Lets workers take failed chunks again, and returns their number.
   *
   * @throws InvalidInputError if no chunk of the run has failed
   */
  async retry(run: string): Promise<number> {
    await this.find(run);
    const retried = await this.#change(statements.retry, run);
    if (retried > 0) return retried;
    throw new InvalidInputError(`run ${run}: none of its chunks has failed`);
  }

  /**
   * Ends a run early: its workers stop, and its rows are removed unless it keeps them.
   *
   * @throws InvalidInputError if it has ended
   */
  async cancel(run: string): Promise<void> {
    const { state, keepsRows } = await this.find(run);
    const cancelled = await this.#change(statements.stop, run, 'ready');
    if (cancelled === 0) throw new InvalidInputError(`run ${run} is ${state}: there is nothing to cancel`);
    if (!keepsRows) await this.#removeAll(statements.removeData, run);
  }

  /**
   * Removes everything about a run that workers do not process.
   *
   * @throws InvalidInputError if they do, or may
   */
  async purge(run: string): Promise<void> {
    await this.#change(statements.stop, run, 'loading');
    const { state, workers } = await this.find(run);
    if (state === 'ready') throw new InvalidInputError(`run ${run} is not over: cancel it first`);
    if (workers > 0) {
      throw new InvalidInputError(`run ${run} may have requests under way: nothing was deleted`, {
        hint: 'Delete it when "userinfo runs show" counts no worker, at the latest when their lease has ended.',
      });
    }
    await this.#removeAll(statements.removeChunks, run);
    await this.#removeAll(statements.removeOutcomes, run);
    await this.#change(statements.removeRun, run);
    await this.#removeAll(statements.removeOutcomes, run); // what workers recorded meanwhile
  }

  /** The outcomes of those rows that have one, by line; the rows are in the order of the file. */
  async outcomes(run: string, rows: readonly Pick<FileRow, 'line'>[]): Promise<Map<number, QueuedOutcome>> {
    const found = await this.#driver.read((sql) => sql.all(statements.outcomes, [run, ...linesOf(rows)]));
    return new Map(found.map((row) => [Number(row.line), row as unknown as QueuedOutcome]));
  }

  /** The rows of a run that are still in the queue, a chunk at a time. */
  async *rows({ run }: QueuedRun): AsyncGenerator<readonly NdjsonRow[]> {
    for (let last = -1; ; ) {
      const [found] = await this.#driver.read((sql) => sql.all(statements.nextChunk, [run, last]));
      if (found === undefined) return;
      yield rowsOf(found.data);
      last = Number(found.chunk);
    }
  }

  /** Runs a statement that removes some until none is left. */
  async #removeAll(statement: string, run: string): Promise<void> {
    while ((await this.#change(statement, run)) > 0);
  }

  /** Runs a statement, and returns the number of changed rows. */
  #change(statement: string, ...values: readonly SqlParameter[]): Promise<number> {
    return this.#driver.write((sql) => sql.run(statement, values));
  }
}

/** @throws InvalidInputError if a statement for a run that is loading has changed nothing */
function requireLoading(run: string, changed: number): void {
  if (changed === 0) throw new InvalidInputError(`run ${run} was cancelled while it was loaded`);
}

async function select(sql: Sql, statement: string, ...values: readonly SqlParameter[]): Promise<QueuedRun[]> {
  const parse = (json: unknown) => JSON.parse(String(json));
  const found = await sql.all(statement, values);
  return found.map(({ properties, waits_for, ...stored }) => {
    return { ...parse(properties), ...stored, waits_for: parse(waits_for) };
  });
}

/** The first and the last line of rows. */
function linesOf(rows: readonly Pick<FileRow, 'line'>[]): [number, number] {
  return [rows[0]?.line ?? 0, rows.at(-1)?.line ?? 0];
}

function rowsOf(data: unknown): readonly NdjsonRow[] {
  const rows = JSON.parse(String(data)) as readonly NdjsonRow[];
  return rows.map(({ line, json }) => new NdjsonRow(line, json));
}
