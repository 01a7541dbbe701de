import { existsSync } from 'node:fs';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import type { DoubtfulText } from '../../request/doubts.js';

/** Whether an argument is named like a file of rows, and no pair. */
export function isRowsName(arg: string): boolean {
  return /^[^=]+\.(?:csv|tsv|ndjson|jsonl)(?:\.gz)?$/i.test(arg);
}

/** The doubt about an argument, called `what`, that is the path of a file of rows. */
export function rowsFileDoubts(what: string, arg: string): DoubtfulText[] {
  if (!isRowsName(arg) || !existsSync(arg)) return [];
  return [{ what, text: arg, why: 'is the path of a file' }];
}

/** The error of a passback for one user that is given a file of rows. */
export function rowsFileError(file: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(file)} is a file, not a pair such as key=text`, {
    hint: 'For each of its rows:',
    commands: [`userinfo bulk passback ${quoteWhereNeeded(file)}`],
  });
}
