import { command, type Invocation } from '../../command.js';
import { parseFilled } from '../../command-line/options.js';
import { addFile, type BulkReadOptions } from './options.js';

export const declareBulkRead = command({
  name: 'read',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'read with the authorization code of each row',
  takes: (command) =>
    addFile(command)
      .argument('[names...]', 'names to read, separated by spaces or commas (default: all)')
      .option(
        '--scope <scope>',
        'authorization type (default: that of the service)',
        parseFilled('--scope'),
      ),
  action: async (invocation: Invocation<BulkReadOptions>, file: string, names: string[]) =>
    (await import('./run-many.late.js')).readMany(invocation, file, names),
});
