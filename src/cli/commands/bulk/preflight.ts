import type { PlainRequest } from '../../../client/call/request.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { printMessage } from '../../io.js';
import { withProgress } from '../../output/progress.js';
import { warn } from '../../output/style.js';
import {
  confirmDoubts,
  type DoubtfulText,
  doubtful,
  nameDoubts,
  settingDoubts,
  specialNamesOf,
  warnOfDoubts,
} from '../../request/doubts.js';
import { rowsFileDoubts } from '../../request/file-argument.js';
import { warnOfKeys } from '../passback/pairs.js';
import { ColumnDoubts } from './column-doubts.js';
import { noRows, RunInputError } from './errors.js';
import { type RefusedFiles, RefusedRows } from './files/refused-rows.js';
import { formatRows } from './row-count.js';
import type { BulkRun } from './row-source.js';
import { formatCommandFor, formatOthersCommand } from './run-command.js';
import { type InputDigest, preflight } from './source/checked-input.js';
import type { FileRow } from './source/rows.js';

/** Maximum number of invalid rows that are shown, and after which the others are not looked at. */
const shownFaults = 20;
const maxFaults = 1_000;

/** Number of rows that a dry run shows. */
const sampleSize = 3;

interface SampleRow {
  readonly line: number;
  readonly request: PlainRequest;
}

/** The result of reading a file once, before anything is sent. */
export interface CheckedFile {
  /** `null` if the rows were not checked. */
  readonly rows: number | null;
  /** The keys that rows would write; none if the rows were not checked. */
  readonly keys: readonly string[];
  /** The requests of the first rows, by their lines. */
  readonly sample: readonly SampleRow[];
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  readonly digest: InputDigest;
}

/**
 * Reads a file once before anything is sent, and checks its rows unless `--no-preflight` is given.
 * Asks about doubts. Writes the rows that cannot be sent to `files`.
 *
 * @throws InvalidInputError if it has no rows, or rows that cannot be sent, which are listed; if
 * the answer is no
 */
export async function checkRows(run: BulkRun, files: RefusedFiles): Promise<CheckedFile> {
  const { io, options, source } = run;
  const { name, size, share } = source.input;
  if (size === 0) throw new InvalidInputError(`${quoteName(name)} is empty`);
  const check = new RowCheck(run, files);
  const progressNow = () => ({ doing: 'checking', rows: check.rows, share: share(), total: null });
  const checked = await withProgress(io, options, progressNow, () => check.read()).finally(() =>
    printFaults(run, check),
  );
  if (options.preflight && check.rows === 0 && options.part === undefined) throw noRows(name);
  if (check.faultCount > 0) {
    await reportRefused(run, check, files);
    throw check.refusal();
  }
  const keys = await askAboutRows(run, check);
  return { ...checked, rows: options.preflight ? check.rows : null, keys, sample: check.sample };
}

/** Checks the rows of a file, and writes those that cannot be sent to files. */
class RowCheck {
  readonly #run: BulkRun;
  readonly #files: RefusedFiles;
  readonly #refusedRows: RefusedRows;
  /** The error of the first row that cannot be sent. */
  #first: InvalidInputError | undefined;
  readonly doubts: ColumnDoubts;
  readonly repeats = new Repeats();
  /** The requests of the first rows. */
  readonly sample: SampleRow[] = [];
  /** Number of rows. */
  rows = 0;
  /** Number of rows that cannot be sent. */
  faultCount = 0;
  /** Why the first ones cannot be sent. */
  readonly faults: string[] = [];

  constructor(run: BulkRun, files: RefusedFiles) {
    this.#run = run;
    this.#files = files;
    this.#refusedRows = new RefusedRows(run.operation, files, run.source);
    this.doubts = new ColumnDoubts(run.operation, run.options.types);
  }

  /**
   * Reads the file, and checks its rows unless `--no-preflight` is given.
   *
   * @throws InvalidInputError for a file that cannot be read, and after `maxFaults` rows that cannot
   * be sent if no file lists them
   */
  async read(): Promise<Pick<CheckedFile, 'digest' | 'hash'>> {
    const { context, options, source } = this.#run;
    const checkBatch = (batch: readonly FileRow[]) => {
      context.signal.throwIfAborted();
      for (const row of batch) this.#add(row);
      this.rows += batch.length;
    };
    try {
      const checked = await preflight(source, options.preflight ? checkBatch : null);
      this.#refusedRows.finish();
      return checked;
    } finally {
      this.#refusedRows.close();
    }
  }

  #add(row: FileRow): void {
    const { operation } = this.#run;
    try {
      const fields = row.fields();
      this.doubts.add(row.line, fields);
      const { request, user } = operation.prepare(fields);
      this.repeats.add(row.line, user ?? request.parameters.get('code') ?? '');
      if (this.sample.length < sampleSize) this.sample.push({ line: row.line, request });
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      this.#addFault(row, error);
    }
  }

  #addFault(row: FileRow, error: InvalidInputError): void {
    this.faultCount += 1;
    this.#first ??= error;
    this.#refusedRows.add(row, error);
    if (this.faultCount <= shownFaults) this.faults.push(`line ${row.line}: ${error.message}`);
    const isListed = this.#files.results !== null || this.#files.failed !== null;
    if (this.faultCount === maxFaults && !isListed)
      throw this.#refusal('at least ', this.#run.options.dryRun === true);
  }

  /** The error of the rows that cannot be sent. */
  refusal(): Error {
    const { dryRun = false } = this.#run.options;
    return this.#refusal('', dryRun || this.faultCount === this.rows);
  }

  #refusal(atLeast: string, noneLeft: boolean): Error {
    const { name } = this.#run.source.input;
    const message = `${atLeast}${formatRows(this.faultCount)} of ${quoteName(name)} cannot be sent`;
    const failed = this.#files.failed?.path ?? null;
    return refusal(this.#run, { message, first: this.#first, failed, noneLeft });
  }
}

async function printFaults({ io }: BulkRun, { faults, faultCount }: RowCheck): Promise<void> {
  for (const fault of faults) await printMessage(io, fault);
  const more = faultCount - faults.length;
  if (more > 0) await printMessage(io, `and ${formatRows(more)} more`);
}

/** Says where the rows are that cannot be sent. */
async function reportRefused(run: BulkRun, check: RowCheck, files: RefusedFiles): Promise<void> {
  // The command that sends the others checks nothing, and asks nothing.
  await warnOfDoubts(run.io, doubtsOf(run, check));
  for (const path of pathsOf(files))
    await printMessage(run.io, `${formatRows(check.faultCount)} written to ${path}`);
}

/**
 * Warns of rows that can be sent but may not be meant, asks about doubts, and returns the keys that
 * the rows would write.
 *
 * @throws InvalidInputError if the answer is no
 */
async function askAboutRows(run: BulkRun, check: RowCheck): Promise<readonly string[]> {
  const { context, io, options, operation, settings } = run;
  const keys = operation.userInfoKeys(check.doubts.names);
  await warnOfKeys(io, keys, settings.key_prefix);
  const repeated = check.repeats.warning(operation.endpoint.writes);
  if (repeated !== null) await warn(io, repeated);
  const isAnswered = options.yes === true || options.dryRun === true;
  await confirmDoubts(context, doubtsOf(run, check), 'Send the rows as they are?', isAnswered);
  return keys;
}

function doubtsOf(run: BulkRun, { doubts }: RowCheck): DoubtfulText[] {
  return [...runDoubts(run), ...doubts.texts(run.settings.key_prefix)];
}

/** The doubts about what all rows of a run have in common. */
export function runDoubts({ infoNames, options, settings }: BulkRun): DoubtfulText[] {
  const special = specialNamesOf(settings);
  return [
    ...settingDoubts(settings),
    ...doubtful('--scope', options.scope ?? '', 'id'),
    ...infoNames.flatMap((name) => nameDoubts('name', name, special)),
    ...infoNames.flatMap((name) => rowsFileDoubts(`the name ${quoteName(name)}`, name)),
  ];
}

/** Maximum number of users or codes among which the same one is looked for. */
const maxUsers = 100_000;

/** Looks for users that are written to more than once, or codes that are used more than once. */
class Repeats {
  readonly #users = new Set<string>();
  #rows = 0;
  #line = 0;

  add(line: number, userOrCode: string): void {
    if (!this.#users.has(userOrCode)) {
      if (this.#users.size < maxUsers) this.#users.add(userOrCode);
      return;
    }
    if (this.#rows === 0) this.#line = line;
    this.#rows += 1;
  }

  /** What is said of them; `null` if there are none. */
  warning(writes: boolean): string | null {
    if (this.#rows === 0) return null;
    const rows = formatRows(this.#rows);
    const lines = this.#rows > 1 ? `line ${this.#line}, …` : `line ${this.#line}`;
    if (writes)
      return `in ${rows} the user is that of an earlier row (${lines}): the last row wins`;
    return `in ${rows} the code is that of an earlier row (${lines}): a code works once`;
  }
}

/** The files of the rows that cannot be sent. */
function pathsOf({ results, failed }: RefusedFiles): string[] {
  return [results, failed?.path].filter((path) => typeof path === 'string');
}

/** What is said of the rows of a file that cannot be sent. */
interface Refusal {
  /** Says how many they are. */
  readonly message: string;
  readonly first: InvalidInputError | undefined;
  /** The path of the file that has them; `null` if there is none. */
  readonly failed: string | null;
  /** Whether no other row is to be sent. */
  readonly noneLeft: boolean;
}

/** The error of rows that cannot be sent; its next step is that of the first, if that has one. */
function refusal(run: BulkRun, { message, first, failed, noneLeft }: Refusal): Error {
  if (first instanceof RunInputError) {
    return new RunInputError(message, first.hint ?? '', ...acceptingOptions(run, first));
  }
  const { hint, commands } = first ?? {};
  if (failed !== null) {
    const correct = `${hint ?? ''} Correct them in ${quoteName(failed)}, and send that file`.trim();
    const sendThem = formatCommandFor(failed, run);
    if (noneLeft)
      return new InvalidInputError(message, { hint: `${correct}:`, commands: [sendThem] });
    return new InvalidInputError(message, {
      hint: `${correct}, and the others:`,
      commands: [sendThem, formatOthersCommand(run)],
    });
  }
  if (hint !== undefined) return new InvalidInputError(message, { hint, commands });
  if (noneLeft) return new InvalidInputError(message, { hint: 'Correct them.' });
  return new RunInputError(message, 'Correct them. To send the others:', '--no-preflight');
}

/** The options that accept a row; those that `--types` has already are kept. */
function acceptingOptions({ options: { types } }: BulkRun, { options }: RunInputError) {
  const [option, value] = options;
  if (option !== '--types' || types === undefined) return options;
  return [option, `${types},${value}`];
}
