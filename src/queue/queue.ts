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
import { cutIntoChunks, UserDigests } from './load-run.js';
import { type NewRun, type QueuedOutcome, type QueuedRun, queueSchema, targetDifferences } from './run.js';

/** The current time, by the clock of the database; in milliseconds since 1970. */
const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';

/** The speed of a run, in rows a second, is an average in which rows of a minute ago count 1/e, like a load average. */
const weightOf = (time: string) => `exp(GREATEST(-99, (${time} - ${nowMs}) / 60000.0))`;
const speed = `COALESCE(speed * ${weightOf('recorded_at')}, 0)`;
/** The speed as it is shown: of the time since the start of the run if that is shorter. */
const shownSpeed = `CASE WHEN state = 'ready' AND recorded_at > ${nowMs} - 60000
  THEN ${speed} / (1 - ${weightOf(`LEAST(started_at, ${nowMs} - 1000)`)}) END`;

/** Maximum number of times that workers take a chunk. */
const maxTakings = 1000;
const isLeased = `leased_until > ${nowMs}`;
const hasFailed = `NOT done AND NOT ${isLeased} AND takings >= ${maxTakings}`;

/** A run is stored as its properties and its state. One that was cancelled is awaited until its last lease has ended. */
const selectRuns = (condition: string) => `SELECT properties, json_build_object('run', run, 'state', state,
  ${outcomes.map((one) => `'${one}', ${one}`)}, 'done', ok + failed + invalid + unknown, 'not_ok',
  failed + invalid + unknown, 'rows_per_second', ${shownSpeed}, 'waits_for', (SELECT COALESCE(json_agg(awaited), '[]')
    FROM json_to_recordset(CAST(waits_for AS JSON)) AS awaited (run TEXT, users BIGINT)
    WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = awaited.run AND state = 'ready')
    OR EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = awaited.run AND ${isLeased})),
  'chunks', chunks, 'chunks_left', chunks_left, 'failed_chunks', failed_chunks, 'workers', workers,
  'created_at', created_at / 1000, 'ended_at', ended_at / 1000) AS stored
  FROM userinfo_runs, LATERAL (SELECT COUNT(*) FILTER (WHERE NOT done AND NOT (${hasFailed})) AS chunks_left,
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
  release: `UPDATE userinfo_runs SET state = 'ready', chunks = $2, waits_for = $3
    WHERE run = $1 AND state = 'loading'`,
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
    counted AS (UPDATE userinfo_runs runs SET started_at = COALESCE(started_at, ${nowMs}), recorded_at = ${nowMs},
      speed = ${speed} + added."rows" / 60.0, ${outcomes.map(sumOf)} FROM added WHERE run = $1 AND added."rows" > 0)
    SELECT 1 FROM userinfo_chunks JOIN userinfo_runs USING (run)
    WHERE run = $1 AND chunk = $2 AND leased_until = $3 AND ${isLeased} AND state = 'ready'`,
  finish: `UPDATE userinfo_chunks SET done = true, leased_until = 0, data = CASE WHEN $6 = 1 THEN data END
    WHERE run = $1 AND chunk = $2 AND
    (SELECT COUNT(*) FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $3 AND $4) >= $5`,
  handBack: 'UPDATE userinfo_chunks SET leased_until = 0 WHERE run = $1 AND chunk = $2 AND leased_until = $3',
  retry: `UPDATE userinfo_chunks SET takings = 0 WHERE run = $1 AND ${hasFailed}`,
  stop: `UPDATE userinfo_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', $2)`,
  /** The leases stay: they say that requests may be under way. */
  removeData: `UPDATE userinfo_chunks SET data = NULL, done = true WHERE run = $1 AND chunk IN
    (SELECT chunk FROM userinfo_chunks WHERE run = $1 AND data IS NOT NULL LIMIT $2)`,
  removeChunks: 'DELETE FROM userinfo_chunks WHERE run = $1',
  removeOutcomes: `DELETE FROM userinfo_outcomes WHERE run = $1 AND line IN
    (SELECT line FROM userinfo_outcomes WHERE run = $1 ORDER BY line LIMIT $2)`,
  removeRun: 'DELETE FROM userinfo_runs WHERE run = $1',
  outcomes: 'SELECT line, outcome, result FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $2 AND $3',
  nextChunk: `SELECT chunk, data FROM userinfo_chunks
    WHERE run = $1 AND chunk > $2 AND data IS NOT NULL ORDER BY chunk LIMIT 1`,
};

/** Maximum number of chunks whose rows one statement removes. */
const maxRemovedChunks = 100;

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
   * Adds rows as one run, and returns its name: all of them, or none. After `leaseMs` milliseconds other workers may
   * take the chunk of a silent one. A run with a rate has one chunk under way at a time. A chunk that workers took
   * 1,000 times and did not finish has failed. The run waits for those that were added before and name some of its
   * users to the same target.
   *
   * @throws InvalidInputError if the run was cancelled meanwhile, and what reading the rows throws
   */
  async load(given: NewRun, leaseMs: number, batches: AsyncIterable<readonly FileRow[]>): Promise<string> {
    const run = randomBytes(5).toString('hex');
    const properties = { ...given, leaseMs: Math.ceil(leaseMs / 1000) * 1000 };
    await this.#driver.writeOnce(statements.add, [run, JSON.stringify(properties)]);
    try {
      const users = new UserDigests();
      let chunks = 0;
      for await (const rows of cutIntoChunks(batches, given, users)) {
        requireLoading(run, await this.#change(statements.addChunk, run, chunks, JSON.stringify(rows)));
        chunks += 1;
      }
      await this.#release(run, given, chunks, users);
    } catch (error) {
      const found = await this.find(run).catch(() => null);
      if (found?.state === 'ready') return run; // only the answer of the database was lost
      // If the database is lost as well, the rest can be deleted.
      await this.purge(run).catch(() => {});
      throw error;
    }
    return run;
  }

  /** Makes a run ready, as soon as it is compared with all that are unfinished. Runs become ready one by one. */
  async #release(run: string, given: NewRun, chunks: number, users: UserDigests): Promise<void> {
    const compared = new Map<string, number | null>();
    for (;;) {
      const unknown = await this.#driver.write(async (sql) => {
        await sql.run(statements.lockReleases);
        const unknown = (await select(sql, statements.unfinished)).filter(
          (other) => !compared.has(other.run) && targetDifferences(other.target, given.target) === '',
        );
        if (unknown.length > 0) return unknown;
        const waitsFor = [...compared].flatMap(([run, users]) => (users === 0 ? [] : [{ run, users }]));
        requireLoading(run, await sql.run(statements.release, [run, chunks, JSON.stringify(waitsFor)]));
        return null;
      });
      if (unknown === null) return;
      for (const other of unknown) compared.set(other.run, await this.#countShared(other, given, users));
    }
  }

  /** Number of rows of a run that are still in the queue have a user of `users`; `null` if nobody can say. */
  async #countShared(run: QueuedRun, { naming }: NewRun, users: UserDigests): Promise<number | null> {
    if (run.state !== 'ready' || JSON.stringify(run.naming) !== JSON.stringify(naming)) return null;
    const operation = passbackOperation(run.naming);
    let shared = 0;
    for await (const rows of this.rows(run)) {
      for (const row of rows) if (users.has(userOf(row, operation) ?? '')) shared += 1;
    }
    return shared;
  }

  /** @throws InvalidInputError if there is no such run */
  async find(run: string): Promise<QueuedRun> {
    const [found] = await this.#driver.read((sql) => select(sql, statements.find, run));
    if (found !== undefined) return found;
    throw new InvalidInputError(`there is no run ${quoteName(run)}: see "userinfo runs list"`);
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

  /** Ends a chunk whose rows all have outcomes, whoever has it. Returns another, unless it was taken meanwhile. */
  async finish({ run, chunk, rows, lease }: TakenChunk): Promise<void> {
    const values = [run.run, chunk, ...linesOf(rows), rows.length, run.keepsRows ? 1 : 0];
    const finished = await this.#change(statements.finish, ...values);
    if (finished === 0) await this.#change(statements.handBack, run.run, chunk, lease);
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
    if (!keepsRows) await this.#repeat(statements.removeData, run, maxRemovedChunks);
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
    await this.#repeat(statements.removeData, run, maxRemovedChunks);
    await this.#change(statements.removeChunks, run);
    const removeOutcomes = () => this.#repeat(statements.removeOutcomes, run, this.#driver.purgeRows);
    await removeOutcomes();
    await this.#change(statements.removeRun, run);
    await removeOutcomes(); // what workers recorded meanwhile
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

  /** Runs a statement that changes at most `limit` rows until none is left: one for all might take too long. */
  async #repeat(statement: string, run: string, limit: number): Promise<void> {
    while ((await this.#change(statement, run, limit)) === limit);
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
  return found.map(({ properties, stored }) => ({ ...parse(properties), ...parse(stored) }));
}

/** The first and the last line of rows. */
function linesOf(rows: readonly Pick<FileRow, 'line'>[]): [number, number] {
  return [rows[0]?.line ?? 0, rows.at(-1)?.line ?? 0];
}

function rowsOf(data: unknown): readonly NdjsonRow[] {
  const rows = JSON.parse(String(data)) as readonly NdjsonRow[];
  return rows.map(({ line, json }) => new NdjsonRow(line, json));
}
