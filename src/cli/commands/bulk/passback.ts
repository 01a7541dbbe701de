import { Option } from 'commander';
import { command, type Invocation } from '../../command.js';
import { parseFilled } from '../../command-line/options.js';
import { addFile, type BulkPassbackOptions } from './options.js';

export const declareBulkPassback = command({
  name: 'passback',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'pass information about the user of each row back',
  takes: (command) =>
    addFile(command)
      .option(
        '--union-id-column <name>',
        'the column of user IDs (default: union_id); beside --primary-key, both are sent',
      )
      .option(
        '--primary-key <key>',
        'the column that identifies users, such as mobile',
        parseFilled('--primary-key'),
      )
      .option('--types <list>', 'columns that are not text, such as age:number,vip:boolean')
      .addOption(
        new Option('--empty <what>', 'what to do with empty cells (default: drop)').choices([
          'drop',
          'keep',
        ]),
      ),
  action: async (invocation: Invocation<BulkPassbackOptions>, file: string) =>
    (await import('./run-many.late.js')).passbackMany(invocation, file),
});
