import { type Command, Option } from 'commander';
import { queueOption } from '../queue/queue-option.js';
import type { BulkOptions } from './bulk-options.js';

/** What `passback --from` takes beside what every run takes. */
export interface PassbackManyOptions extends BulkOptions {
  readonly unionIdColumn?: string;
  readonly primaryKey?: string;
  readonly types?: string;
  readonly empty?: 'keep' | 'drop';
  /** The URL of a database whose queue takes the rows; they are sent from here unless given. */
  readonly queue?: string;
  readonly keep?: true;
}

export const onlyPassbackMany = ['unionIdColumn', 'types', 'empty', 'queue', 'keep'] as const;

export function addPassbackManyOptions(command: Command): Command {
  return command
    .option('--union-id-column <name>', 'the column of user IDs (default: union_id)')
    .option('--types <list>', 'columns that are not text, as age:number,vip:boolean')
    .addOption(
      new Option('--empty <what>', 'what an empty cell is (default: drop)').choices(['drop', 'keep']),
    )
    .addOption(queueOption('hand the rows to workers through PostgreSQL'))
    .addOption(new Option('--keep', 'leave them in the queue when they are done'));
}
