import { existsSync } from 'node:fs';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { commandOf } from './command-text.js';
import type { DoubtfulText } from './doubts.js';

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
  return fileError(file, 'a pair such as key=text', 'For each of its rows:', [
    'bulk',
    'passback',
    file,
  ]);
}

/**
 * The error of a command that takes a request, and is given the path of a file; undefined for an
 * argument that is no such path. `args` are those of the command line.
 */
export function requestFileError(
  arg: string,
  args: readonly string[],
): InvalidInputError | undefined {
  if (!existsSync(arg)) return undefined;
  const withSample = args.flatMap((word) => (word === arg ? ['--sample', arg] : [word]));
  return fileError(arg, 'a request', 'To take the request from it:', withSample);
}

/** The error for the path of a file in the place of `wanted`, with the command that takes a file. */
function fileError(
  file: string,
  wanted: string,
  hint: string,
  args: readonly string[],
): InvalidInputError {
  const message = `${quoteName(file)} is a file, not ${wanted}`;
  return new InvalidInputError(message, { hint, commands: commandOf(args) });
}
