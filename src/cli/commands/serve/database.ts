import { join } from 'node:path';
import { Option } from 'commander';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { Secret } from '../../../core/signing/secret.js';
import { describeSystemError } from '../../../core/support/errors.js';
import { createFolder, dataFolder } from '../../../core/support/folders.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { parseSwitch } from '../../command-line/options.js';
import { type Io, readNamedFile } from '../../io.js';

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
 * @throws InvalidInputError as `namedDatabase` and `adminTokens` do, and if the data folder cannot
 * be created
 */
export async function chooseStore(option: string | undefined, env: Io['env'], create: boolean) {
  const database = namedDatabase(option, env) ?? databaseInFolder(create);
  return { database, masterKeys: await readSecretsOf(env, 'USERINFO_MASTER_KEY', 'a master key') };
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

/**
 * The tokens for issuing codes over HTTP, of USERINFO_ADMIN_TOKEN or the file that
 * USERINFO_ADMIN_TOKEN_FILE names; none if none is set.
 *
 * @throws InvalidInputError if their file cannot be read, what is set is blank, or there is none
 * before or after a comma
 */
export function adminTokens(env: Io['env']): Promise<Secret[]> {
  return readSecretsOf(env, 'USERINFO_ADMIN_TOKEN', 'an admin token');
}

/**
 * Secrets of the service, between commas or white space: the text of a variable, or the content of
 * the file that another names; never an argument, which other users of the machine can see. `what`
 * is the name of one in messages.
 */
async function readSecretsOf(
  env: Io['env'],
  name: 'USERINFO_ADMIN_TOKEN' | 'USERINFO_MASTER_KEY',
  what: string,
): Promise<Secret[]> {
  const text = env[name];
  if (text) return splitSecrets(text, { label: name, variable: name, what });
  const variable = `${name}_FILE`;
  const file = env[variable];
  if (!file) return [];
  const label = `the file ${quoteName(file)}`;
  return splitSecrets(await readNamedFile(file, label), { label, variable, what });
}

/**
 * `label` names the source in messages, `variable` is the one that is set, `what` is one secret.
 */
function splitSecrets(
  text: string,
  names: { readonly label: string; readonly variable: string; readonly what: string },
): Secret[] {
  const { label, variable, what } = names;
  if (text.trim() === '') {
    throw new InvalidInputError(`${label} holds no secret`, {
      hint: `Without one, unset ${variable}.`,
    });
  }
  const parts = text
    .trim()
    .split(',')
    .flatMap((part) => part.trim().split(/\s+/));
  // Such as "$NEW,$OLD" with one variable unset: the old key, or none, would be used to encrypt.
  if (parts.includes('')) {
    throw new InvalidInputError(`${what} is missing before or after a comma`, {
      hint: 'Is it a variable that is not set?',
    });
  }
  return parts.map((secret) => new Secret(secret));
}
