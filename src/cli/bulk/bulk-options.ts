import { type Command, Option } from 'commander';
import { InvalidInputError } from '../../protocol/errors.js';
import { bulkHeading } from '../command-line/help-layout.js';
import { parseCount, parseRate } from '../command-line/option-values.js';
import type { CommonOptions, ConnectionOptions } from '../command-line/options.js';

/** The options of a bulk run. */
export interface BulkOptions extends CommonOptions, ConnectionOptions {
  /** A file, or - for standard input. */
  readonly from: string;
  readonly format?: 'csv' | 'ndjson';
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly forceEncoding?: true;
  readonly concurrency: number;
  /** Maximum number of requests a second. */
  readonly rate?: number;
  readonly results?: string;
  readonly failed?: string;
  readonly journal?: string;
  readonly resume?: true;
  readonly restart?: true;
  readonly takeOver?: true;
  readonly dryRun?: true;
  readonly reveal?: true;
  readonly preflight: boolean;
  readonly maxFailures?: number;
  readonly quiet?: true;
  // Of `read` alone.
  readonly names?: string | true;
  readonly anyName?: boolean;
  readonly scope?: string;
  // Of `passback` alone.
  readonly unionIdColumn?: string;
  readonly primaryKey?: string;
  /** `age:number,vip:boolean` */
  readonly types?: string;
  /** Whether an empty cell is a value. */
  readonly empty?: 'keep' | 'drop';
}

const defaultConcurrency = 32;

/** Adds the options that name rows and their format. */
export function addSourceOptions(command: Command): Command {
  return command
    .optionsGroup(bulkHeading)
    .option('--from <file>', 'rows of a bulk run: CSV or NDJSON, .gz too; - is standard input')
    .addOption(
      new Option('--format <format>', 'format of the rows (default: from the file name)').choices([
        'csv',
        'ndjson',
      ]),
    )
    .option('--delimiter <text>', 'text between cells (default: a comma)')
    .option('--encoding <name>', 'such as gb18030 (default: utf-8)')
    .option('--force-encoding', 'use --encoding even if the file looks like UTF-8');
}

/** Adds the options of a bulk run. */
export function addBulkOptions(command: Command): Command {
  return addSourceOptions(command)
    .option('--concurrency <n>', 'maximum number of requests in flight', parseCount, defaultConcurrency)
    .option('--rate <n/s>', 'maximum number of requests per second', parseRate)
    .option('--results <file>', 'outcomes, one line per row (default: <from>.results.ndjson)')
    .option('--failed <file>', 'file for the rows to retry, in the format of the input')
    .option('--journal <file>', 'what --resume needs (default: <from>.userinfo-journal)')
    .addOption(new Option('--resume', 'continue a run; no finished row is sent again').conflicts('restart'))
    .option('--restart', 'start over, and replace the files of the run before')
    .option('--take-over', 'use the files of a run elsewhere that has ended, such as in another container')
    .option('--no-preflight', 'do not check all rows before the first is sent')
    .option('--max-failures <n>', 'stop after this many failed rows', parseCount)
    .option('--quiet', 'show no progress and no summary');
}

/** Adds the options of `passback --from`, after those of every run. */
export function addPassbackManyOptions(command: Command): Command {
  return command
    .option(
      '--union-id-column <name>',
      'the column of user IDs (default: union_id); beside --primary-key, both are sent',
    )
    .option('--types <list>', 'columns that are not text, such as age:number,vip:boolean')
    .addOption(
      new Option('--empty <what>', 'what to do with empty cells (default: drop)').choices(['drop', 'keep']),
    );
}

/**
 * Whether a command line is a bulk run; `single` is what only a call for one row takes.
 *
 * @throws InvalidInputError if it asks for both, or has an option of bulk runs without `--from`
 */
export function isBulk(
  command: Command,
  single: { readonly given: boolean; readonly argument: string; readonly hint: string },
): boolean {
  const isGiven = (name: string) => command.getOptionValueSource(name) === 'cli';
  if (isGiven('from')) {
    if (!single.given) return true;
    throw new InvalidInputError(`--from and ${single.argument} are both given: use one of them`, {
      hint: single.hint,
    });
  }
  const lost = command.options.find(
    (option) => option.helpGroupHeading === bulkHeading && isGiven(option.attributeName()),
  );
  if (lost === undefined) return false;
  throw new InvalidInputError(`${lost.long} is for bulk runs: it needs --from`, {
    hint: lost.long === '--format' ? 'The format of the output is that of -o.' : undefined,
  });
}
