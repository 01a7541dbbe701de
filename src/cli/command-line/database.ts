import { join } from 'node:path';
import { Option } from 'commander';
import { InvalidInputError } from '../../core/contract/errors.js';
import { describeSystemError } from '../../core/support/errors.js';
import { createFolder, dataFolder } from '../../core/support/folders.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import type { Io } from '../io.js';
import { masterKeys } from '../service-secrets.js';
import { parseSwitch } from './options.js';

/** `--database` of `serve` and `admin`. */
export function databaseOption(): Option {
  return new Option(
    '--database <file|url>',
    'SQLite file, :memory:, or PostgreSQL as postgres://user@host/database, its password in PGPASSWORD ' +
      'or the file that PGPASSFILE names (default: that of USERINFO_DATABASE or DATABASE_URL, or userinfo.db in the data folder)',
  );
}

/**
 * The database that `--database`, USERINFO_DATABASE or DATABASE_URL names, in this order;
 * `undefined` if none is set.
 *
 * @throws InvalidInputError if the option is empty
 */
export function namedDatabase(option: string | undefined, env: Io['env']): string | undefined {
  if (option !== '') return option ?? (env.USERINFO_DATABASE || env.DATABASE_URL || undefined);
  throw new InvalidInputError('--database is empty', { hint: 'Is it a variable that is not set?' });
}

/**
 * Whether an older schema may be changed: not where USERINFO_NO_MIGRATE is on.
 *
 * @throws InvalidInputError if it is neither on nor off
 */
export function mayMigrate({ USERINFO_NO_MIGRATE = '' }: Io['env']): boolean {
  return !parseSwitch(USERINFO_NO_MIGRATE, 'USERINFO_NO_MIGRATE');
}

/** `--database` for a command to paste, without the password of a URL; empty for a variable. */
export function databaseFlag(option: string | undefined): string {
  return option === undefined ? '' : ` --database ${quoteWhereNeeded(withoutPassword(option))}`;
}

/** The URL of a database without its passwords; any other argument as it is. */
export function withoutPassword(arg: string): string {
  if (!/postgres(?:ql)?:\/\//i.test(arg)) return arg;
  return arg
    .replace(/(:\/\/[^:/?#@]*):.*@/, '$1@')
    .replace(/(?<=[?&])(?:ssl)?password=[^&#]*&?/gi, '');
}

/**
 * The store to open: in the database that is named, else in the one in the data folder, which
 * `create` creates; with its keys.
 *
 * @throws InvalidInputError as `namedDatabase` and `masterKeys` do, and if the data folder cannot
 * be created
 */
export async function chooseStore(option: string | undefined, env: Io['env'], create: boolean) {
  const database = namedDatabase(option, env) ?? databaseInFolder(create);
  return { database, masterKeys: await masterKeys(env) };
}

function databaseInFolder(create: boolean): string {
  try {
    if (create) createFolder(dataFolder());
  } catch (cause) {
    const message = `cannot create the data folder ${dataFolder()}: ${describeSystemError(cause)}`;
    throw new InvalidInputError(message, {
      hint: 'Name a database elsewhere: --database <file>',
      cause,
    });
  }
  return join(dataFolder(), 'userinfo.db');
}
