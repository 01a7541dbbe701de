import { join } from 'node:path';
import { Option } from 'commander';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { Secret } from '../signing/secret.js';
import { describeSystemError } from '../support/errors.js';
import { createFolder, dataFolder } from '../support/folders.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { readNamedFile } from './input.js';
import type { Io } from './io.js';

/** `--database` of `serve` and `admin`. */
export function databaseOption(): Option {
  return new Option(
    '--database <file|url>',
    'SQLite file, :memory:, or PostgreSQL as postgres://user@host/database, its password in PGPASSWORD ' +
      'or the file that PGPASSFILE names (default: that of USERINFO_DATABASE or DATABASE_URL, or userinfo.db in the data folder)',
  );
}

/**
 * The database that `--database`, USERINFO_DATABASE or DATABASE_URL names, in this order; `undefined` if none is set.
 *
 * @throws InvalidInputError if the option is empty
 */
export function namedDatabase(option: string | undefined, env: Io['env']): string | undefined {
  if (option !== '') return option ?? (env.USERINFO_DATABASE || env.DATABASE_URL || undefined);
  throw new InvalidInputError('--database is empty', { hint: 'Is it a variable that is not set?' });
}

/** `--database` for a command to paste, without the password of a URL; empty for a variable, which stays set. */
export function databaseFlag(option: string | undefined): string {
  return option === undefined ? '' : ` --database ${quoteWhereNeeded(withoutPassword(option))}`;
}

/** The URL of a database without its passwords; any other argument as it is. */
export function withoutPassword(arg: string): string {
  if (!/postgres(?:ql)?:\/\//i.test(arg)) return arg;
  return arg.replace(/(:\/\/[^:/?#@]*):.*@/, '$1@').replace(/(?<=[?&])(?:ssl)?password=[^&#]*&?/gi, '');
}

/**
 * The database to open: the given one, else the one in the data folder, which `create` creates.
 *
 * @throws InvalidInputError if the data folder cannot be created
 */
export async function chooseDatabase(named: string | undefined, create: boolean): Promise<string> {
  if (named !== undefined) return named;
  try {
    if (create) createFolder(dataFolder());
  } catch (cause) {
    const message = `cannot create the data folder ${dataFolder()}: ${describeSystemError(cause)}`;
    throw new InvalidInputError(message, { hint: 'Name a database elsewhere: --database <file>', cause });
  }
  return join(dataFolder(), 'userinfo.db');
}

/**
 * A secret of the service: the text of a variable, or the content of a file that another names; empty if there is none.
 * Never an argument: other users of the machine can see those.
 *
 * @throws InvalidInputError if the file cannot be read
 */
async function readSecretOf(text: string | undefined, file: string | undefined): Promise<string> {
  if (text || !file) return text ?? '';
  return await readNamedFile(file, `the file ${quoteName(file)}`);
}

/**
 * The token for issuing codes over HTTP; `undefined` if none is set.
 *
 * @throws InvalidInputError if its file cannot be read
 */
export async function adminToken(env: Io['env']): Promise<Secret | undefined> {
  const text = (await readSecretOf(env.USERINFO_ADMIN_TOKEN, env.USERINFO_ADMIN_TOKEN_FILE)).trim();
  return text === '' ? undefined : new Secret(text);
}

/**
 * The master keys of the store, separated by commas or white space.
 *
 * @throws InvalidInputError if their file cannot be read
 */
export async function masterKeys(env: Io['env']): Promise<Secret[]> {
  return (await readSecretOf(env.USERINFO_MASTER_KEY, env.USERINFO_MASTER_KEY_FILE))
    .split(/[\s,]+/)
    .filter((key) => key !== '')
    .map((key) => new Secret(key));
}
