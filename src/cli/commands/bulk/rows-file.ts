import { existsSync } from 'node:fs';
import { InvalidInputError, quoteName } from '../../../protocol/errors.js';
import { quoteWhereNeeded } from '../../../support/shell.js';

/** Whether an argument is named like a file of rows. */
export function isRowsName(arg: string): boolean {
  return /^[^=]+\.(?:csv|tsv|ndjson|jsonl)(?:\.gz)?$/i.test(arg);
}

/** Whether an argument is the path of a file of rows that exists. */
export function isRowsFile(arg: string): boolean {
  return isRowsName(arg) && existsSync(arg);
}

/** The error of a command for one user, `read` or `passback`, that is given a file of rows. */
export function rowsFileError(file: string, command: 'read' | 'passback'): InvalidInputError {
  const bulk = `userinfo bulk ${command} ${quoteWhereNeeded(file)}`;
  return new InvalidInputError(`${quoteName(file)} is a file: for each of its rows, ${bulk}`);
}
