import { randomBytes } from 'node:crypto';
import type { Outcome, OutcomeCounts } from '../bulk/outcome.js';
import type { SqlDriver } from '../database/sql-driver.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import type { JobQueue } from './job-queue.js';
import { type NewRun, type QueuedRun, runColumns, toRun } from './run.js';
import { nowMs } from './schema.js';

/** Maximum number of rows that one statement deletes: it must end before the time-out of statements. */
const deletedAtOnce = 20_000;

const statements = {
  add:
    'INSERT INTO queue_runs (run, state, created_at, target, naming, source, row_count, rate, keeps_rows,' +
    ' next_start, chunks, chunks_done, ok, failed, invalid, unknown)' +
    ` VALUES ($1, 'loading', ${nowMs}, $2, $3, $4, $5, $6, $7, 0, 0, 0, 0, 0, 0, 0)`,
  find: `SELECT ${runColumns} FROM queue_runs WHERE run = $1`,
  list: `SELECT ${runColumns} FROM queue_runs ORDER BY created_at, run`,
  holders: 'SELECT COUNT(DISTINCT holder) AS holders FROM queue_chunks WHERE run = $1 AND done = 0',
  count: 'SELECT outcome, COUNT(*) AS rows FROM queue_outcomes WHERE run = $1 GROUP BY outcome',
  cancel: `UPDATE queue_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', 'ready')`,
  jobs: 'SELECT job FROM queue_chunks WHERE run = $1 AND done = 0 AND job IS NOT NULL',
  forgetBodies:
    'UPDATE queue_chunks SET body = NULL WHERE (run, lane, chunk) IN' +
    ' (SELECT run, lane, chunk FROM queue_chunks WHERE run = $1 AND body IS NOT NULL LIMIT $2)',
  removeOutcomes:
    'DELETE FROM queue_outcomes WHERE run = $1 AND line IN' +
    ' (SELECT line FROM queue_outcomes WHERE run = $1 ORDER BY line LIMIT $2)',
  removeChunks:
    'DELETE FROM queue_chunks WHERE (run, lane, chunk) IN' +
    ' (SELECT run, lane, chunk FROM queue_chunks WHERE run = $1 LIMIT $2)',
  remove: 'DELETE FROM queue_runs WHERE run = $1',
};

/** The runs of a queue. */
export class Runs {
  readonly #driver: SqlDriver;
  readonly #jobs: JobQueue;

  constructor(driver: SqlDriver, jobs: JobQueue) {
    this.#driver = driver;
    this.#jobs = jobs;
  }

  /** Adds a run without rows, and returns its name. */
  async add({ target, naming, source, rows, rate, keepsRows }: NewRun): Promise<string> {
    const run = randomBytes(5).toString('hex');
    const json = [target, naming, source].map((part) => JSON.stringify(part));
    const values = [run, ...json, rows, rate, keepsRows ? 1 : 0];
    await this.#driver.write((sql) => sql.run(statements.add, values));
    await this.#jobs.create(run);
    return run;
  }

  /** @throws InvalidInputError if there is no such run */
  async find(run: string): Promise<QueuedRun> {
    const [row] = await this.#driver.read((sql) => sql.all(statements.find, [run]));
    if (row !== undefined) return toRun(row);
    throw new InvalidInputError(`there is no run ${quoteName(run)}`, {
      hint: '"userinfo runs list" shows those that there are.',
    });
  }

  /** All runs, the oldest first. */
  async list(): Promise<QueuedRun[]> {
    return (await this.#driver.read((sql) => sql.all(statements.list))).map(toRun);
  }

  /** How many workers hold chunks of a run. */
  async countWorkers(run: string): Promise<number> {
    const [row] = await this.#driver.read((sql) => sql.all(statements.holders, [run]));
    return Number(row?.holders ?? 0);
  }

  /** The number of rows of a run with each outcome, including those of chunks that are not done. */
  async countOutcomes(run: string): Promise<OutcomeCounts> {
    const rows = await this.#driver.read((sql) => sql.all(statements.count, [run]));
    const countOf = (name: Outcome) => Number(rows.find(({ outcome }) => outcome === name)?.rows ?? 0);
    return {
      ok: countOf('ok'),
      failed: countOf('failed'),
      invalid: countOf('invalid'),
      unknown: countOf('unknown'),
    };
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
    await this.#dropJobs(run);
    if (!keepsRows) await this.#inParts(statements.forgetBodies, run);
  }

  /**
   * Removes everything about a run that has ended.
   *
   * @throws InvalidInputError if it has not ended
   */
  async purge(run: string): Promise<void> {
    const { state } = await this.find(run);
    if (state === 'ready') {
      throw new InvalidInputError(`run ${run} is not over: workers may be at it`, {
        hint: `End it first: userinfo runs cancel ${run}`,
      });
    }
    await this.remove(run);
  }

  /** Removes everything about a run. */
  async remove(run: string): Promise<void> {
    await this.#dropJobs(run);
    await this.#inParts(statements.removeChunks, run);
    await this.#inParts(statements.removeOutcomes, run);
    await this.#driver.write((sql) => sql.run(statements.remove, [run]));
  }

  async #dropJobs(run: string): Promise<void> {
    const rows = await this.#driver.read((sql) => sql.all(statements.jobs, [run]));
    await this.#jobs.drop(
      run,
      rows.map(({ job }) => String(job)),
    );
  }

  async #inParts(statement: string, run: string): Promise<void> {
    const changeSome = () => this.#driver.write((sql) => sql.run(statement, [run, deletedAtOnce]));
    while ((await changeSome()) === deletedAtOnce);
  }
}
