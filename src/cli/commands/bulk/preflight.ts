import { type InputDigest, preflight } from '../../../bulk/source/checked-input.js';
import { parseTypes } from '../../../bulk/source/columns.js';
import { RunInputError } from '../../../bulk/source/input.js';
import type { FileRow } from '../../../bulk/source/rows.js';
import type { PlainRequest } from '../../../client/request.js';
import type { Endpoint } from '../../../protocol/endpoints.js';
import { InvalidInputError, quoteName } from '../../../protocol/errors.js';
import { type FlatValue, valueFault } from '../../../protocol/user-info.js';
import { misspeltKey, warnOfKeys } from '../../call/pairs.js';
import { printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { withProgress } from './progress.js';
import type { BulkRun } from './row-source.js';
import { formatRows, noRows } from './run-report.js';

/** Maximum number of invalid rows that are shown, and after which the others are not looked at. */
const shownFaults = 20;
const maxFaults = 1_000;
/** Maximum number of names of values that are looked at. */
const maxNames = 200;

/** Number of rows that a dry run shows. */
const sampleSize = 3;

/** The result of reading a file once, before anything is sent. */
export interface CheckedFile {
  /** `null` if the rows were not checked. */
  readonly rows: number | null;
  /** The keys that rows would write; none if the rows were not checked. */
  readonly keys: readonly string[];
  /** The requests of the first rows, by their lines. */
  readonly sample: readonly (readonly [line: number, request: PlainRequest])[];
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  readonly digest: InputDigest;
}

/**
 * Reads a file once before anything is sent, and checks its rows unless `--no-preflight` is given. Refuses misspelt
 * special keys, and warns of other names that are probably mistakes.
 *
 * @throws InvalidInputError if it has no rows, or rows that cannot be sent, which are listed
 */
export async function checkRows(run: BulkRun): Promise<CheckedFile> {
  const { context, io, options, operation, settings, source } = run;
  const { name, size, share } = source.input;
  if (size === 0) throw new InvalidInputError(`${quoteName(name)} is empty`);
  let [rows, faultCount] = [0, 0];
  let first: InvalidInputError | undefined;
  const names = new Set<string>();
  const faults: string[] = [];
  const sample: [number, PlainRequest][] = [];
  const doubts = collectDoubts(options, operation.endpoint);
  const invalid = () => `${formatRows(faultCount)} of ${quoteName(name)} cannot be sent`;
  const checkRow = (row: FileRow) => {
    try {
      const fields = row.fields();
      for (const name of fields.keys()) if (names.size < maxNames) names.add(name);
      if (operation.endpoint.writes) doubts.addValues(fields);
      const { request, user } = operation.prepare(fields);
      const once = user ?? request.parameters.get('code');
      if (once !== undefined) doubts.addOnce(row.line, once);
      if (sample.length < sampleSize) sample.push([row.line, request]);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      faultCount += 1;
      first ??= error;
      if (faultCount <= shownFaults) faults.push(`line ${row.line}: ${error.message}`);
      if (faultCount === maxFaults)
        throw invalidRows(`at least ${invalid()}`, first, options.types, options.dryRun === true);
    }
  };
  const checkBatch = (batch: readonly FileRow[]) => {
    context.signal.throwIfAborted();
    batch.forEach(checkRow);
    rows += batch.length;
  };
  const progressNow = () => ({ doing: 'checking', rows, share: share(), total: null });
  const checked = await withProgress(io, options, progressNow, () =>
    preflight(source, options.preflight ? checkBatch : null),
  ).finally(async () => {
    for (const fault of faults) await printMessage(io, fault);
    const more = faultCount - faults.length;
    if (more > 0) await printMessage(io, `and ${formatRows(more)} more`);
  });
  if (options.preflight && rows === 0 && options.part === undefined) throw noRows(name);
  if (faultCount > 0) {
    throw invalidRows(invalid(), first, options.types, options.dryRun === true || faultCount === rows);
  }
  const keys = operation.userInfoKeys(names);
  refuseMisspelt(keys, settings.key_prefix, options.types);
  await warnOfKeys(io, keys, settings.key_prefix);
  doubts.refuseRounded();
  for (const doubt of doubts.warnings()) await warn(io, doubt);
  return { ...checked, rows: options.preflight ? rows : null, keys, sample };
}

/** `types` with more columns whose values are meant as they are. */
function withText(types: string | undefined, columns: readonly string[]): string {
  return [...(types === undefined ? [] : [types]), ...columns.map((column) => `${column}:text`)].join(',');
}

/** A number of more digits than a spreadsheet keeps, and one whose further digits are all zero. */
const long = /^\d{16,}$/;
const rounded = /^\d{15}0+$/;
/** Maximum number of users or codes among which the same one is looked for. */
const maxOnce = 100_000;

/** Collects doubtful values of rows, by column. */
function collectDoubts({ types }: BulkRun['options'], { writes }: Endpoint) {
  const meant = parseTypes(types);
  const rowsOf = new Map<string, number>();
  const numbers = new Map<string, { long: number; rounded: number; digits: number }>();
  /** Users that are written to, or codes. */
  const once = new Set<string>();
  const again: number[] = [];
  return {
    addValues(fields: ReadonlyMap<string, FlatValue>): void {
      for (const [column, value] of fields) {
        if (typeof value !== 'string' || meant.has(column)) continue;
        const fault = valueFault(column, value, 'cell');
        if (fault !== null) {
          const doubt = `${quoteName(column)} ${fault.what}`;
          rowsOf.set(doubt, (rowsOf.get(doubt) ?? 0) + 1);
        } else if (value.length > 15 && long.test(value)) {
          const found = numbers.get(column) ?? { long: 0, rounded: 0, digits: 0 };
          found.long += 1;
          if (rounded.test(value)) found.rounded += 1;
          found.digits = Math.max(found.digits, value.length);
          numbers.set(column, found);
        }
      }
    },
    addOnce(line: number, text: string): void {
      if (once.has(text)) again.push(line);
      else if (once.size < maxOnce) once.add(text);
    },
    /** @throws RunInputError for a column whose long numbers end in zeros, all of them */
    refuseRounded(): void {
      for (const [column, { long, rounded, digits }] of numbers) {
        // One number of 16 digits ends in a zero now and then.
        if (rounded < long || (long === 1 && digits < 18)) continue;
        const message = `the numbers of column ${quoteName(column)} were rounded to 15 digits: a spreadsheet does that`;
        const list = withText(types, [column]);
        throw new RunInputError(message, 'Export them as text. To send them as they are:', '--types', list);
      }
    },
    *warnings(): Generator<string> {
      for (const [doubt, rows] of rowsOf) yield `${doubt}, in ${formatRows(rows)}`;
      if (again.length === 0) return;
      const lines = `line ${again[0]}${again.length > 1 ? ', …' : ''}`;
      yield writes
        ? `${formatRows(again.length)} for a user of an earlier row (${lines}): the last one counts`
        : `${formatRows(again.length)} with the code of an earlier row (${lines}): a code works once`;
    },
  };
}

/** The error of rows that cannot be sent; its next step is that of the first of them, if it has one. */
function invalidRows(
  what: string,
  first: InvalidInputError | undefined,
  types: string | undefined,
  noneLeft: boolean,
): Error {
  if (first instanceof RunInputError) {
    const [option, value] = first.options;
    const list = option === '--types' && types !== undefined ? [option, `${types},${value}`] : first.options;
    return new RunInputError(what, first.hint ?? '', ...list);
  }
  if (first?.hint !== undefined)
    return new InvalidInputError(what, { hint: first.hint, commands: first.commands });
  if (noneLeft) return new InvalidInputError(what, { hint: 'Correct them.' });
  return new RunInputError(what, 'Correct them. To send the others:', '--no-preflight');
}

/**
 * Refuses keys of many rows that are probably misspelt special keys; `types` are those of the columns.
 *
 * @throws RunInputError with the option that says that a key is meant
 */
export function refuseMisspelt(
  keys: Iterable<string>,
  prefix: string | null,
  types: string | undefined,
): void {
  const typed = parseTypes(types);
  const slips = [...keys].filter((key) => !typed.has(key) && misspeltKey(key, prefix) !== null);
  if (slips.length === 0) return;
  const meant = slips.map((key) => quoteName(misspeltKey(key, prefix)?.meant ?? '')).join(', ');
  const verb = slips.length === 1 ? 'key has' : 'keys have';
  const message = `${slips.map(quoteName).join(', ')}: the ${verb} no special meaning; did you mean ${meant}?`;
  const list = withText(types, slips);
  throw new RunInputError(message, 'Rename it, or send it as it is:', '--types', list);
}
