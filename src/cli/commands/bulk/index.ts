import { command } from '../../command.js';
import { addBulkOptions } from './options.js';
import { declareBulkPassback } from './passback.js';
import { declareBulkRead } from './read.js';

export const declareBulk = command({
  name: 'bulk',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'the same for each row of a file, with --resume',
  help: () => import('./help.txt?raw'),
  takes: addBulkOptions,
  commands: [declareBulkPassback, declareBulkRead],
});
