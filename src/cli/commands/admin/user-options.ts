import type { Command } from 'commander';
import type { UserKey } from '../../../service/index.js';
import { type AdminOptions, addDatabaseOption } from './with-admin.js';

export interface UserOptions extends AdminOptions, UserKey {}

/** Says which user is meant, and in which store. */
export function addUserOptions(command: Command): Command {
  return addDatabaseOption(
    command
      .requiredOption('--tenant-code <code>', 'the tenant')
      .requiredOption('--union-id <id>', 'the user'),
  );
}
