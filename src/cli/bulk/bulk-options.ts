import { type Command, Option } from 'commander';
import { InvalidInputError } from '../../protocol/errors.js';
import { parseCount, parseRate } from '../option-values.js';
import type { CommonOptions, ConnectionOptions } from '../options.js';

/** The options of a run over many rows. */
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
  readonly dryRun?: true;
  readonly preflight: boolean;
  readonly maxFailures?: number;
  readonly quiet?: true;
  /** Of `passback` alone: `age:number,vip:boolean`. */
  readonly types?: string;
  /** Of `passback` alone: whether an empty cell is a value. */
  readonly empty?: 'keep' | 'drop';
}

const defaultConcurrency = 32;

/** Adds the options of a run over many rows; those of one operation are in its own file. */
export function addBulkOptions(command: Command): Command {
  command
    .optionsGroup('Many rows:')
    .addOption(new Option('--from <file>', 'many rows: CSV or NDJSON, .gz too; - is standard input'))
    .addOption(
      new Option('--format <format>', 'format of the rows (default: from the file name)').choices(formats),
    )
    .addOption(new Option('--delimiter <text>', 'text between cells (default: a comma)'))
    .addOption(new Option('--encoding <name>', 'such as gb18030 (default: utf-8)'))
    .addOption(new Option('--force-encoding', 'use it, though the file looks like UTF-8'));
  return addConcurrencyOption(command)
    .addOption(new Option('--rate <n/s>', 'maximum number of requests a second').argParser(parseRate))
    .addOption(new Option('--results <file>', 'a line a row (default: <from>.results.ndjson)'))
    .addOption(new Option('--failed <file>', 'file for the rows to retry, in the format of the input'))
    .addOption(new Option('--journal <file>', 'what --resume needs (default: <from>.userinfo-journal)'))
    .addOption(new Option('--resume', 'continue a run; no finished row is sent again').conflicts('restart'))
    .addOption(new Option('--restart', 'start over, and replace the files of the run before'))
    .addOption(new Option('--no-preflight', 'do not check all rows before the first is sent'))
    .addOption(
      new Option('--max-failures <n>', 'stop when so many rows have failed').argParser((text) =>
        parseCount(text, 'rows'),
      ),
    )
    .addOption(new Option('--quiet', 'show no progress and no summary'));
}

/** Maximum number of requests that a run or a worker has in flight. */
export function addConcurrencyOption(command: Command): Command {
  return command.addOption(
    new Option('--concurrency <n>', 'maximum number of requests in flight')
      .default(defaultConcurrency)
      .argParser((text) => parseCount(text, 'requests')),
  );
}

const formats = ['csv', 'ndjson'] as const;

/** The options that are valid only with `--from`. */
const onlyWithFrom = [
  'format',
  'delimiter',
  'encoding',
  'forceEncoding',
  'concurrency',
  'rate',
  'results',
  'failed',
  'journal',
  'resume',
  'restart',
  'preflight',
  'maxFailures',
  'quiet',
];

/**
 * Whether a command line is for many rows. `others` are the options of many rows of this operation, `single` is
 * what only a call for one row takes.
 *
 * @throws InvalidInputError if it asks for both, or has an option of many rows without `--from`
 */
export function isBulk(
  command: Command,
  others: readonly string[],
  single: { readonly given: boolean; readonly argument: string; readonly hint: string },
): boolean {
  const isGiven = (name: string) => command.getOptionValueSource(name) === 'cli';
  if (isGiven('from')) {
    if (!single.given) return true;
    throw new InvalidInputError(`--from and ${single.argument} are both given: use one of them`, {
      hint: single.hint,
    });
  }
  const lost = [...onlyWithFrom, ...others].find(isGiven);
  if (lost === undefined) return false;
  const flag = command.options.find((option) => option.attributeName() === lost)?.long ?? lost;
  throw new InvalidInputError(`${flag} is for many rows: it needs --from`);
}
