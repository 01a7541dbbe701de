import type { Command } from 'commander';
import type { Admin } from '../../../service/index.js';
import type { CliContext } from '../../context.js';
import { databaseOption } from '../../database.js';
import type { CommonOptions } from '../../options.js';

export interface AdminOptions extends CommonOptions {
  readonly database?: string;
}

export function addDatabaseOption(command: Command): Command {
  return command.addOption(databaseOption());
}

/**
 * Opens the store for one command, and closes it whatever happens. Only what fills a store makes one where there is
 * none (`create`).
 */
export async function withAdmin<T>(
  context: CliContext,
  { database }: AdminOptions,
  work: (admin: Admin) => Promise<T>,
  create = false,
): Promise<T> {
  const admin = await context.openAdmin(database, { create });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
