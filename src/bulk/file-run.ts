import type { Sender } from '../client/sender.js';
import { missingInfoNames } from '../protocol/info-names.js';
import type { EngineListener, Pacing } from './engine/engine-options.js';
import { RowEngine } from './engine/row-engine.js';
import { FailedFile, type FailedPlace, FailedRows } from './files/failed-file.js';
import { Recorder, type RecorderFiles } from './files/recorder.js';
import { type RowOperation, userOf } from './operations.js';
import type { OutcomeCounts, RowOutcome } from './outcome.js';
import { type FileRow, InputRows, type InputRowsOptions } from './source/rows.js';

/** How a run over a file ended. */
export interface RunReport {
  /** Of all parts of the run. */
  readonly counts: OutcomeCounts;
  /** How many rows came to an outcome in this part. */
  readonly done: number;
  readonly durationMs: number;
  /** Whether resuming the run would send no row. */
  readonly isFinished: boolean;
  /** What stopped the run early: `interrupted` by `stop`, `failures` by too many of them. */
  readonly stoppedBy: 'interrupted' | 'failures' | Error | null;
  /** How many rows are in the file of failed rows; `null` if it could not be written. */
  readonly failedRows: number | null;
  /** For each wanted name that was missing: in how many answers of this part. */
  readonly missing: ReadonlyMap<string, number>;
}

/** The progress of a run over a file. */
interface RunProgress extends Pick<RunReport, 'counts'> {
  /** Of the input, in bytes. */
  readonly bytesRead: number;
  /** How long nothing is sent because the service asked for a pause, or does not answer; in milliseconds. */
  readonly pausedMs: number;
}

/**
 * The source of the rows, the operation, and the files of the run. Results and journal are closed at the end;
 * `state` is that of earlier parts of the run, and is updated.
 */
export interface FileRunOptions<Row extends FileRow> extends InputRowsOptions<Row>, RecorderFiles {
  readonly operation: RowOperation;
  readonly sender: Sender;
  readonly pacing: Pacing;
  /** Where the rows that are worth another try are written. */
  readonly failed: FailedPlace | null;
  /** How many rows may have another outcome than ok before the run stops. */
  readonly maxFailures: number | null;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Sends the rows of an input, and writes down the outcome of each. */
export class FileRun<Row extends FileRow> {
  readonly #options: FileRunOptions<Row>;
  readonly #rows: InputRows<Row>;
  readonly #engine: RowEngine<Row>;
  readonly #recorder: Recorder;
  readonly #failed: FailedRows<Row> | null;
  readonly #startedAt: number;
  #done = 0;
  #failures = 0;
  readonly #missing = new Map<string, number>();
  #stoppedBy: RunReport['stoppedBy'] = null;

  /** @throws InvalidInputError if the file of failed rows cannot be written */
  constructor(options: FileRunOptions<Row>) {
    const { operation, pacing, sender, failed, format, text, now, random } = options;
    this.#options = options;
    this.#rows = new InputRows(options);
    this.#failed =
      failed === null
        ? null
        : new FailedRows(new FailedFile(failed, format, text.encoding === 'utf-8'), this.#rows);
    this.#startedAt = now();
    this.#recorder = new Recorder(operation, options, now);
    this.#engine = new RowEngine(this.#rowsToSend(), {
      ...pacing,
      operation: operation.name,
      sender,
      prepare: (row) => operation.prepare(format.fields(row)),
      sizeOf: ({ size }) => size,
      listener: this.#listener(),
      now,
      random,
    });
  }

  get progress(): RunProgress {
    const { state, now } = this.#options;
    return {
      counts: state.counts,
      bytesRead: this.#rows.bytesRead,
      pausedMs: Math.max(0, this.#engine.flow.pausedUntil - now()),
    };
  }

  /** Reads no more rows; awaits those in flight. */
  stop(): void {
    this.#stop('interrupted');
  }

  /**
   * Resolves when no row is in flight any more and the files are complete.
   *
   * @throws only what is a fault of the program
   */
  async run(): Promise<RunReport> {
    const { results, journal, state, now } = this.#options;
    try {
      await this.#orStop(async () => {
        await this.#engine.run();
      });
      await this.#orStop(async () => this.#recorder.finish());
      let failedRows: number | null = null;
      await this.#orStop(async () => {
        await this.#failed?.finish(state);
        failedRows = this.#failed?.count ?? 0;
      });
      const isFinished = () => this.#stoppedBy === null && !this.#hasMore();
      await this.#orStop(() => this.#recorder.end(isFinished()));
      return {
        counts: state.counts,
        done: this.#done,
        durationMs: now() - this.#startedAt,
        isFinished: isFinished(),
        stoppedBy: this.#stoppedBy,
        failedRows,
        missing: this.#missing,
      };
    } finally {
      results.close();
      journal?.close();
    }
  }

  async *#rowsToSend(): AsyncGenerator<readonly Row[]> {
    const { operation, state } = this.#options;
    const isRead = operation.name === 'read';
    const isBegun = state.settled.size + state.unknown.size > 0;
    // A code is used once, whatever its outcome.
    const isDone = (line: number) => state.settled.has(line) || (isRead && state.unknown.has(line));
    for await (const rows of this.#rows.read()) {
      yield isBegun ? rows.filter(({ line }) => !isDone(line)) : rows;
    }
  }

  #listener(): EngineListener<Row> {
    const recorder = this.#recorder;
    const failed = this.#failed;
    const { format, operation, results } = this.#options;
    return {
      onOutcome: (outcome, user) => {
        // An invalid row may have a valid user.
        const isInvalid = outcome.outcome === 'invalid';
        recorder.onOutcome(outcome, isInvalid ? userOf(outcome.row, format, operation) : user);
        this.#count(outcome);
        failed?.onOutcome(outcome.row, outcome.outcome);
      },
      onTurn: () => {
        recorder.onTurn();
        failed?.onTurn();
      },
      isFull: () => results.isFull(() => this.#engine.resume()),
      ...(operation.name === 'passback'
        ? {}
        : { onSend: (rows) => recorder.onSend(rows), onTakenBack: (row) => recorder.onTakenBack(row) }),
    };
  }

  #count(result: RowOutcome<Row>): void {
    this.#done += 1;
    if (result.outcome === 'ok') {
      this.#countMissing(result.answer.envelope.data);
      return;
    }
    this.#failures += 1;
    if (this.#failures === this.#options.maxFailures) this.#stop('failures');
  }

  #countMissing(data: object): void {
    for (const name of missingInfoNames(this.#options.operation.infoNames, data)) {
      this.#missing.set(name, (this.#missing.get(name) ?? 0) + 1);
    }
  }

  #stop(reason: NonNullable<RunReport['stoppedBy']>): void {
    this.#stoppedBy ??= reason;
    this.#engine.stop();
  }

  async #orStop(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#stop(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** A row with an unknown outcome may be sent again, except in a read: its code may be used up. */
  #hasMore(): boolean {
    const { operation, state } = this.#options;
    return operation.name === 'passback' && state.unknown.size > 0;
  }
}
