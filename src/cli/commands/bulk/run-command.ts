import { InvalidInputError } from '../../../core/contract/errors.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { readCommandLine } from '../../command-line/command-line.js';
import { rootOf } from '../../command-line/help-layout.js';
import { withFlags } from '../../request/command-text.js';
import type { RunInputError } from './errors.js';
import { type BulkRun, delimiterOf, formatOf } from './row-source.js';

/** Options of a run that say what its files are called, each with a value. */
const fileOptions = ['--results', '--failed', '--part'];

/**
 * The command line of a run with the options `added`, as by `withFlags`. --resume, --restart and
 * --take-over are left out.
 *
 * @param added - options and their values
 */
export function formatCommand(run: Pick<BulkRun, 'context'>, added: readonly string[]): string {
  return formatArgs(run.context.args, added, []);
}

/** The command line of a run over another file in the same format, without the run's own files. */
export function formatCommandFor(file: string, run: BulkRun): string {
  const { args } = run.context;
  const { firstOperandAt } = readCommandLine(rootOf(run.command), args);
  const path = file.startsWith('-') ? `./${file}` : file;
  const { format = '', delimiter } = run.source.identity;
  const added: string[] = [];
  if (formatOf(file) !== format) added.push('--format', format);
  if (delimiter !== undefined && delimiterOf(run.options.delimiter, file) !== delimiter)
    added.push('--delimiter', delimiter.replaceAll('\t', '\\t'));
  return formatArgs(args.toSpliced(firstOperandAt, 1, path), added, fileOptions);
}

/** The command line that sends the rows of a file without those that were written to `--failed`. */
export function formatOthersCommand({ context }: Pick<BulkRun, 'context'>): string {
  return formatArgs(context.args, ['--no-preflight'], ['--failed']);
}

function formatArgs(
  args: readonly string[],
  added: readonly string[],
  removed: readonly string[],
): string {
  const kept = args.filter((arg) => !/^--(?:resume|restart|take-over)$/.test(arg));
  return ['userinfo', ...withFlags(kept, added, removed)].map(quoteWhereNeeded).join(' ');
}

/** The error of invalid input, with the command line that has the option which it is about. */
export function withCommand(
  error: RunInputError,
  run: Pick<BulkRun, 'context'>,
): InvalidInputError {
  const { message, hint = '', options, cause } = error;
  return new InvalidInputError(message, { hint, commands: [formatCommand(run, options)], cause });
}
