import { randomBytes } from 'node:crypto';
import { passbackOperation, userOf } from '../bulk/operations.js';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { FileRow } from '../bulk/source/rows.js';
import { StartError, StoreUnavailableError } from '../database/errors.js';
import { migrate } from '../database/migrations.js';
import { describePostgres, openPostgresDriver } from '../database/postgres-driver.js';
import type { Sql, SqlDriver, SqlParameter } from '../database/sql-driver.js';
import { InvalidInputError, quoteName } from '../protocol/errors.js';
import { elapsedMs } from '../support/elapsed.js';
import { cutIntoChunks, type UserDigests } from './load-run.js';
import { type NewRun, type QueuedOutcome, type QueuedRun, targetDifferences } from './run.js';
import { queueSchema, queueStatements } from './statements.js';

/** Numbers of chunks, and of lines of the input, that one statement clears: one for all might take too long. */
const [clearedChunks, clearedLines] = [100, 5000];

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
      throw new StartError(message, { hint: error.hint, cause: error });
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
    await this.#driver.writeOnce(queueStatements.add, [run, JSON.stringify(given)]);
    try {
      for await (const rows of cutIntoChunks(batches, given.rate)) {
        signal.throwIfAborted();
        requireLoading(run, await this.#change(queueStatements.addChunk, run, JSON.stringify(rows)));
      }
      return { run, waits_for: await this.#release(run, given, users, signal) };
    } catch (error) {
      const found = await this.find(run).catch(() => null);
      if (found?.state === 'ready') return found; // only the answer of the database was lost
      // If the database is lost as well, the rest can be deleted.
      await this.#removeNow(run).catch(() => {});
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
        await sql.run(queueStatements.lockReleases);
        const unfinished = await select(sql, queueStatements.unfinished);
        const others = unfinished.filter(({ target }) => targetDifferences(target, given.target) === '');
        const added = others.filter((other) => !compared.has(other.run));
        // Requests of a cancelled run may be under way, though its rows are gone.
        const awaited = others.filter((other) => other.state === 'cancelled' || compared.get(other.run));
        const waitsFor = awaited.map((other) => other.run);
        const values = [run, JSON.stringify(waitsFor)];
        if (added.length === 0) requireLoading(run, await sql.run(queueStatements.release, values));
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
  find(run: string): Promise<QueuedRun> {
    return this.#driver.read((sql) => findRun(sql, run));
  }

  /** All runs, or those that workers may process; the oldest first. */
  list(which: 'list' | 'ready' = 'list'): Promise<QueuedRun[]> {
    return this.#driver.read((sql) => select(sql, queueStatements[which]));
  }

  /** Takes the first chunk that no worker has; `null` if there is none to take now. */
  async take(given: QueuedRun): Promise<TakenChunk | null> {
    const { run, rate, leaseMs, waits_for } = given;
    if (waits_for.length > 0) return null; // it never waits again once it does not
    return await this.#driver.write(async (sql) => {
      const askedAt = elapsedMs();
      // One by one: what comes next sees what another worker took.
      if ((await sql.all(queueStatements.lockReady, [run])).length === 0) return null;
      const [taken] = await sql.all(queueStatements.take, [run, leaseMs, rate === null ? 0 : 1]);
      if (taken === undefined) return null;
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
    return (await this.#driver.writeOnce(queueStatements.record, values)).length > 0;
  }

  /** Ends a chunk whose rows all have outcomes, and with its last one a run; hands another back. */
  async finish({ run, chunk, rows, lease }: TakenChunk): Promise<void> {
    const keeps = run.keepsRows ? 1 : 0;
    await this.#change(queueStatements.finish, run.run, chunk, ...linesOf(rows), rows.length, lease, keeps);
  }

  /**
   * Lets workers take failed chunks again, and returns their number.
   *
   * @throws InvalidInputError if no chunk of the run has failed
   */
  async retry(run: string): Promise<number> {
    await this.find(run);
    const retried = await this.#change(queueStatements.retry, run);
    if (retried > 0) return retried;
    throw new InvalidInputError(`run ${run}: none of its chunks has failed`);
  }

  /**
   * Ends a run early: its workers stop, and its rows are removed unless it keeps them.
   *
   * @throws InvalidInputError if it has ended
   */
  async cancel(run: string): Promise<void> {
    const { state, keepsRows, chunks } = await this.find(run);
    const cancelled = await this.#change(queueStatements.stop, run, 'ready');
    if (cancelled === 0) throw new InvalidInputError(`run ${run} is ${state}: there is nothing to cancel`);
    if (keepsRows) return;
    for (let from = 0; from < chunks; from += clearedChunks) {
      await this.#change(queueStatements.removeData, run, from, from + clearedChunks);
    }
  }

  /**
   * Removes everything about a run that workers do not process, a part at each step, and yields how many of its outcomes
   * are removed. A removal that is not continued can be begun again.
   *
   * @throws InvalidInputError if workers process the run, or may
   */
  async *remove(run: string): AsyncGenerator<number> {
    const { chunks, last } = await this.#driver.write(async (sql) => {
      await sql.run(queueStatements.stop, [run, 'loading']);
      await sql.all(queueStatements.lockWhole, [run]);
      const { state, workers, chunks } = await findRun(sql, run);
      if (state === 'ready') throw new InvalidInputError(`run ${run} is not over: cancel it first`);
      if (workers > 0) {
        throw new InvalidInputError(`run ${run} may have requests under way: nothing was deleted`, {
          hint: 'Delete it when "userinfo runs show" counts no worker, at the latest when their lease has ended.',
        });
      }
      await sql.run(queueStatements.startRemoval, [run]);
      const [found] = await sql.all(queueStatements.lastLine, [run]);
      return { chunks, last: Number(found?.last ?? 0) };
    });
    let removed = 0;
    for (let from = 0; from < chunks; from += clearedChunks) {
      await this.#change(queueStatements.removeChunks, run, from, from + clearedChunks);
      yield removed;
    }
    for (let from = 0; from <= last; from += clearedLines) {
      removed += await this.#change(queueStatements.removeOutcomes, run, from, from + clearedLines);
      yield removed;
    }
    await this.#change(queueStatements.removeRun, run);
  }

  async #removeNow(run: string): Promise<void> {
    for await (const _ of this.remove(run));
  }

  /** A run that has been over for so many milliseconds, and that no worker has; the one that ended first. */
  async findExpired(keptMs: number): Promise<string | undefined> {
    const [found] = await this.#driver.read((sql) => sql.all(queueStatements.expired, [keptMs]));
    return found && String(found.run);
  }

  /** The outcomes of those rows that have one, by line; the rows are in the order of the file. */
  async outcomes(run: string, rows: readonly Pick<FileRow, 'line'>[]): Promise<Map<number, QueuedOutcome>> {
    const found = await this.#driver.read((sql) =>
      sql.all(queueStatements.outcomes, [run, ...linesOf(rows)]),
    );
    return new Map(found.map((row) => [Number(row.line), row as unknown as QueuedOutcome]));
  }

  /** The rows of a run that are still in the queue, a chunk at a time. */
  async *rows({ run }: QueuedRun): AsyncGenerator<readonly NdjsonRow[]> {
    for (let last = -1; ; ) {
      const [found] = await this.#driver.read((sql) => sql.all(queueStatements.nextChunk, [run, last]));
      if (found === undefined) return;
      yield rowsOf(found.data);
      last = Number(found.chunk);
    }
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

/** @throws InvalidInputError if there is no such run */
async function findRun(sql: Sql, run: string): Promise<QueuedRun> {
  const [found] = await select(sql, queueStatements.find, run);
  if (found !== undefined) return found;
  throw new InvalidInputError(`there is no run ${quoteName(run)}`, {
    hint: 'The runs of this queue are listed by "userinfo runs list".',
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
