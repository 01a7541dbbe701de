import type { OperationName } from '../../../core/contract/endpoints.js';
import { command, type Declare } from '../../command.js';
import { addBulkOptions } from './options.js';
import { declareBulkPassback } from './passback.js';
import { declareBulkRead } from './read.js';

/** The bulk run of each operation. */
const operations: Readonly<Record<OperationName, Declare>> = {
  passback: declareBulkPassback,
  read: declareBulkRead,
};

export const declareBulk = command({
  name: 'bulk',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'the same for each row of a file, with --resume',
  help: () => import('./help.txt?raw'),
  takes: addBulkOptions,
  commands: Object.values(operations),
});
