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
import { type RefusedFiles, RefusedRows } from './files/refused-rows.js';
import { formatRows } from './row-count.js';
import { noRows } from './row-errors.js';
import type { BulkRun } from './row-source.js';
import { formatCommandFor, formatOthersCommand } from './run-command.js';
import { type InputDigest, preflight } from './source/checked-input.js';
import { RunInputError } from './source/input.js';
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
  const { context, io, options, operation, settings, source } = run;
  const { name, size, share } = source.input;
  if (size === 0) throw new InvalidInputError(`${quoteName(name)} is empty`);
  const record = new RefusedRows(operation, files, source);
  const isListed = files.results !== null || files.failed !== null;
  let rows = 0;
  let faultCount = 0;
  let first: InvalidInputError | undefined;
  const faults: string[] = [];
  const sample: SampleRow[] = [];
  const doubts = new ColumnDoubts(operation, options.types);
  const repeats = new Repeats();
  const invalid = () => `${formatRows(faultCount)} of ${quoteName(name)} cannot be sent`;
  const refused = (message: string, noneLeft: boolean) =>
    refusal(run, { message, first, failed: files.failed?.path ?? null, noneLeft });
  const checkRow = (row: FileRow) => {
    try {
      const fields = row.fields();
      doubts.add(row.line, fields);
      const { request, user } = operation.prepare(fields);
      repeats.add(row.line, user ?? request.parameters.get('code') ?? '');
      if (sample.length < sampleSize) sample.push({ line: row.line, request });
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      faultCount += 1;
      first ??= error;
      record.add(row, error);
      if (faultCount <= shownFaults) faults.push(`line ${row.line}: ${error.message}`);
      if (faultCount === maxFaults && !isListed)
        throw refused(`at least ${invalid()}`, options.dryRun === true);
    }
  };
  const checkBatch = (batch: readonly FileRow[]) => {
    context.signal.throwIfAborted();
    batch.forEach(checkRow);
    rows += batch.length;
  };
  const progressNow = () => ({ doing: 'checking', rows, share: share(), total: null });
  const check = async () => {
    try {
      const checked = await preflight(source, options.preflight ? checkBatch : null);
      record.finish();
      return checked;
    } finally {
      record.close();
    }
  };
  const checked = await withProgress(io, options, progressNow, check).finally(async () => {
    for (const fault of faults) await printMessage(io, fault);
    const more = faultCount - faults.length;
    if (more > 0) await printMessage(io, `and ${formatRows(more)} more`);
  });
  if (options.preflight && rows === 0 && options.part === undefined) throw noRows(name);
  const doubtfulTexts = [...runDoubts(run), ...doubts.texts(settings.key_prefix)];
  if (faultCount > 0) {
    // The command that sends the others checks nothing, and asks nothing.
    await warnOfDoubts(io, doubtfulTexts);
    for (const path of pathsOf(files))
      await printMessage(io, `${formatRows(faultCount)} written to ${path}`);
    throw refused(invalid(), options.dryRun === true || faultCount === rows);
  }
  const keys = operation.userInfoKeys(doubts.names);
  await warnOfKeys(io, keys, settings.key_prefix);
  const repeated = repeats.warning(operation.endpoint.writes);
  if (repeated !== null) await warn(io, repeated);
  await confirmDoubts(
    context,
    doubtfulTexts,
    'Send the rows as they are?',
    options.yes === true || options.dryRun === true,
  );
  return { ...checked, rows: options.preflight ? rows : null, keys, sample };
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
