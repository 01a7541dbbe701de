import { type Command, InvalidArgumentError, Option } from 'commander';
import { DependentOption, sharedHeading } from '../../command-line/help-layout.js';
import {
  addConnectionOptions,
  type CommonOptions,
  type ConnectionOptions,
  parseCount,
  parseFilled,
  parseRate,
} from '../../command-line/options.js';
import type { Part } from './source/part.js';

/** How the rows of a file are read. */
export interface FormatOptions {
  readonly format?: 'csv' | 'ndjson';
  readonly delimiter?: string;
  readonly encoding?: string;
}

/** The options of a bulk run. */
export interface BulkOptions extends CommonOptions, ConnectionOptions, FormatOptions {
  /** The only rows that are sent. */
  readonly part?: Part;
  readonly concurrency: number;
  /** Maximum number of requests a second. */
  readonly rate?: number;
  readonly results?: string;
  readonly failed?: string;
  readonly resume?: true;
  readonly restart?: true;
  readonly takeOver?: true;
  readonly dryRun?: true;
  readonly reveal?: true;
  readonly preflight: boolean;
  readonly maxFailures?: number;
  readonly quiet?: true;
  // Of `bulk read` alone.
  readonly scope?: string;
  // Of `bulk passback` alone.
  /** `age:number,vip:boolean` */
  readonly types?: string;
  /** Whether an empty cell is a value. */
  readonly empty?: 'keep' | 'drop';
}

/** The options of `userinfo bulk passback`. */
export interface BulkPassbackOptions extends BulkOptions {
  readonly unionIdColumn?: string;
  readonly primaryKey?: string;
}

/** The options of `userinfo bulk read`. */
export type BulkReadOptions = BulkOptions;

const defaultConcurrency = 32;

/** Parses a part of a file, such as `2/4`. */
function parsePart(text: string): Part {
  const [, number, count] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
  const part = { number: Number(number), count: Number(count) };
  if (part.number <= part.count) return part;
  throw new InvalidArgumentError('Write it as 2/4: the second of four parts.');
}

/** Adds the argument of a bulk run: the file of its rows. */
export function addFile(command: Command): Command {
  const description = 'rows: CSV or NDJSON, .gz too; - is standard input';
  return command.argument('<file>', description, parseFilled('the name of the file'));
}

/**
 * Adds the options that say how the rows of a file are read; `needs` is the option that names the
 * file, where it is no argument.
 */
export function addFormatOptions(command: Command, needs: readonly string[] = []): Command {
  const format = 'format of the rows (default: from the file name)';
  return command
    .addOption(new DependentOption('--format <format>', format, needs).choices(['csv', 'ndjson']))
    .addOption(
      new DependentOption('--delimiter <text>', 'text between cells (default: a comma)', needs),
    )
    .addOption(new DependentOption('--encoding <name>', 'such as gb18030 (default: utf-8)', needs));
}

/** Adds the options that both bulk runs have. */
export function addBulkOptions(command: Command): Command {
  addFormatOptions(command.optionsGroup(sharedHeading))
    .option('--part <k/n>', 'only part k of n, for n machines (see docs/bulk.md)', parsePart)
    .option('--dry-run', 'check all rows, and print the first ones without sending any')
    .addOption(new DependentOption('--reveal', 'with --dry-run, show masked values', ['--dry-run']))
    .option(
      '--concurrency <n>',
      'maximum number of requests in flight',
      parseCount,
      defaultConcurrency,
    )
    .option('--rate <n/s>', 'maximum number of requests per second', parseRate)
    .option(
      '--results <file>',
      'outcomes, one line per row, with a journal beside them (default: <file>.results.ndjson)',
    )
    .option(
      '--failed <file>',
      'file for the rows that are not ok, each with the reason, in the format of the input',
    )
    .addOption(
      new Option('--resume', 'continue a run; no finished row is sent again').conflicts('restart'),
    )
    .option('--restart', 'start over, and replace the files of the run before')
    .option(
      '--take-over',
      'use the files of a run elsewhere that has ended, such as in another container',
    )
    .option('--no-preflight', 'do not check all rows before the first is sent')
    .option('--max-failures <n>', 'stop after this many failed rows', parseCount)
    .option('--quiet', 'show no progress and no summary');
  return addConnectionOptions(command);
}
