// Apart from run-many.ts: the help of passback loads this, and nothing of runs.

import { type Command, Option } from 'commander';
import { InvalidInputError } from '../../protocol/errors.js';
import { parseDuration } from '../option-values.js';
import { queueOption } from '../queue/queue-option.js';
import type { BulkOptions } from './bulk-options.js';

/** The options of `passback --from` beside those of every run. */
export interface PassbackManyOptions extends BulkOptions {
  readonly unionIdColumn?: string;
  readonly primaryKey?: string;
  /** The URL of a database whose queue takes the rows; without it they are sent by this process. */
  readonly queue?: string;
  readonly keep?: true;
  /** Milliseconds. */
  readonly lease?: number;
}

export const onlyPassbackMany = ['unionIdColumn', 'types', 'empty', 'queue', 'keep', 'lease'] as const;

/** Milliseconds. */
export const defaultLeaseMs = 60_000;

export function addPassbackManyOptions(command: Command): Command {
  return command
    .option('--union-id-column <name>', 'the column of user IDs (default: union_id)')
    .option('--types <list>', 'columns that are not text, as age:number,vip:boolean')
    .addOption(
      new Option('--empty <what>', 'what an empty cell is (default: drop)').choices(['drop', 'keep']),
    )
    .addOption(queueOption('hand the rows to workers through PostgreSQL'))
    .addOption(new Option('--keep', 'leave them in the queue when they are done'))
    .addOption(
      new Option(
        '--lease <duration>',
        'with --queue: after this time others take the rows of a silent worker (default: 1m)',
      ).argParser(parseLease),
    );
}

/** pg-boss takes less than a day. */
const longestLeaseMs = 12 * 3_600_000;

function parseLease(text: string): number {
  const ms = parseDuration(text);
  if (ms <= longestLeaseMs) return ms;
  throw new InvalidInputError(`a lease of ${text} is too long`, { hint: 'The maximum is 12h.' });
}
