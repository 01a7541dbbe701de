import type { PlainRequest } from '../client/request.js';
import type { Sender } from '../client/sender.js';
import { type EngineListener, type Pacing, RowEngine } from './engine/row-engine.js';
import { FailedFile } from './files/failed-file.js';
import type { Journal } from './files/journal.js';
import type { JournalState } from './files/journal-state.js';
import { LineSet } from './files/line-set.js';
import { Recorder } from './files/recorder.js';
import type { ResultsSink } from './files/results-sink.js';
import { appendUnknown } from './files/results-tail.js';
import type { RowOperation } from './operations/row-operation.js';
import type { RowOutcome } from './outcome.js';
import type { RunProgress, RunReport } from './run-report.js';
import { decompress } from './source/decompress.js';
import type { Input } from './source/input.js';
import type { FileRow, RowFormat } from './source/row-format.js';
import { type TextOptions, toUtf8 } from './source/utf8-text.js';
import { watchBytes } from './source/watch-bytes.js';

export interface FileRunOptions<Row extends FileRow> {
  readonly input: Input;
  readonly text: TextOptions;
  readonly format: RowFormat<Row>;
  readonly operation: RowOperation;
  readonly sender: Sender;
  readonly pacing: Pacing;
  /** Where the rows' outcomes go. Closed at the end. */
  readonly results: ResultsSink;
  /** `null` for a run that cannot be gone on with. Closed at the end. */
  readonly journal: Journal | null;
  /** What earlier parts of the run did; what this one does is added. */
  readonly state: JournalState;
  /** Where the rows go that are worth trying again. */
  readonly failed: string | null;
  /** How many rows may come to another outcome than ok before the run stops. */
  readonly maxFailures: number | null;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** Does the rows of an input, and writes down what becomes of each. */
export class FileRun<Row extends FileRow> {
  readonly #options: FileRunOptions<Row>;
  readonly #engine: RowEngine<Row>;
  readonly #recorder: Recorder;
  /** Filled on the way where the input is a stream, which cannot be read again at the end. */
  readonly #failed: FailedFile<Row> | null;
  readonly #startedAt: number;
  #bytesRead = 0;
  #done = 0;
  #failures = 0;
  #stoppedBy: RunReport['stoppedBy'] = null;

  /** Throws an InvalidInputError where the file of failed rows cannot be written. */
  constructor(options: FileRunOptions<Row>) {
    const { operation, pacing, sender, failed, format, text, now, random } = options;
    this.#options = options;
    this.#failed = failed === null ? null : new FailedFile(failed, format, text.encoding === 'utf-8');
    this.#startedAt = now();
    this.#recorder = new Recorder(operation.operation, options, now);
    this.#engine = new RowEngine(this.#rowsToSend(), {
      ...pacing,
      operation: operation.operation,
      sender,
      prepare: (row) => this.#prepare(row),
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
      bytesRead: this.#bytesRead,
      pausedMs: Math.max(0, this.#engine.traffic.pausedUntil - now()),
    };
  }

  /** Takes no more rows; those under way are awaited. */
  stop(): void {
    this.#stop('interrupted');
  }

  /** Resolves when no row is under way any more and the files are complete. Throws what nobody meant. */
  async run(): Promise<RunReport> {
    const { results, journal, state, now } = this.#options;
    try {
      await this.#orStop(() => this.#engine.run());
      await this.#orStop(async () => this.#recorder.finish());
      await this.#orStop(() => this.#writeFailed());
      const isFinished = this.#stoppedBy === null && !this.#hasMore();
      await this.#orStop(() => this.#complete(isFinished));
      return {
        counts: state.counts,
        done: this.#done,
        durationMs: now() - this.#startedAt,
        isFinished,
        stoppedBy: this.#stoppedBy,
        failedRows: this.#failed?.count ?? 0,
      };
    } finally {
      results.close();
      journal?.close();
    }
  }

  async *#rowsToSend(): AsyncGenerator<readonly Row[]> {
    const { operation, state } = this.#options;
    const isRead = operation.operation === 'read';
    const isBegun = state.settled.size + state.unknown.size > 0;
    // A code is used once, whatever became of it.
    const isDone = (line: number) => state.settled.has(line) || (isRead && state.unknown.has(line));
    for await (const rows of this.#readRows()) {
      yield isBegun ? rows.filter(({ line }) => !isDone(line)) : rows;
    }
  }

  #readRows(): AsyncGenerator<readonly Row[]> {
    const { input, text, format } = this.#options;
    const bytes = watchBytes(input.read(), (chunk) => {
      this.#bytesRead += chunk.length;
    });
    return format.read(toUtf8(decompress(bytes), text));
  }

  #prepare(row: Row): { request: PlainRequest; user: string | null } {
    const { format, operation } = this.#options;
    const fields = format.fields(row);
    const label = operation.label(fields);
    if (label !== null) row.label = label;
    return { request: operation.request(fields), user: label?.[1] ?? null };
  }

  #listener(): EngineListener<Row> {
    const recorder = this.#recorder;
    const { operation, input, results } = this.#options;
    const failedOfStream = input.size === null ? this.#failed : null;
    let toAdd: Row[] = [];
    return {
      onOutcome: (outcome) => {
        recorder.onOutcome(outcome);
        this.#count(outcome);
        if (failedOfStream !== null && isWorthTrying(outcome)) toAdd.push(outcome.row);
      },
      onTurn: () => {
        recorder.onTurn();
        for (const row of toAdd) failedOfStream?.add(row);
        toAdd = [];
      },
      isFull: () => results.isFull(() => this.#engine.resume()),
      ...(operation.operation === 'passback'
        ? {}
        : { onSend: (rows) => recorder.onSend(rows), onTakenBack: (row) => recorder.onTakenBack(row) }),
    };
  }

  #count({ outcome }: RowOutcome<Row>): void {
    this.#done += 1;
    if (outcome === 'ok') return;
    this.#failures += 1;
    if (this.#failures === this.#options.maxFailures) this.#stop('failures');
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

  async #writeFailed(): Promise<void> {
    if (this.#failed === null) return;
    try {
      if (this.#options.input.size !== null) await this.#collectFailed(this.#failed);
    } finally {
      this.#failed.finish();
    }
  }

  async #collectFailed(file: FailedFile<Row>): Promise<void> {
    const { failed, unknown } = this.#options.state;
    const count = failed.size + unknown.size;
    if (count === 0) return;
    for await (const rows of this.#readRows()) {
      for (const row of rows) if (failed.has(row.line) || unknown.has(row.line)) file.add(row);
      if (file.count === count) return;
    }
  }

  /** A row whose outcome is not known could still be sent, but for a code that may be used up. */
  #hasMore(): boolean {
    const { operation, state } = this.#options;
    return operation.operation === 'passback' && state.unknown.size > 0;
  }

  async #complete(isFinished: boolean): Promise<void> {
    const { results, journal, state } = this.#options;
    if (journal !== null) {
      const unknown = new LineSet();
      for (const line of state.unknown) unknown.add(line);
      await appendUnknown(results, journal.path, state.parts, unknown);
    }
    results.sync();
    journal?.append({ record: 'end', finished: isFinished });
    journal?.sync();
  }
}

function isWorthTrying({ outcome }: RowOutcome<FileRow>): boolean {
  return outcome === 'failed' || outcome === 'unknown';
}
