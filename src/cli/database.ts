import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Option } from 'commander';
import { dataFolder } from '../profiles/config-folder.js';

/** `--database` of `serve` and `admin`. */
export function databaseOption(): Option {
  return new Option(
    '--database <file|url>',
    'SQLite file, :memory:, or PostgreSQL as postgres://user@host/database, its password in PGPASSWORD ' +
      'or the file that PGPASSFILE names (default: userinfo.db in the data folder)',
  );
}

/** The database to open: the one that is named, else the one in the data folder, which is made where needed. */
export async function chooseDatabase(named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  await mkdir(dataFolder(), { recursive: true, mode: 0o700 });
  return join(dataFolder(), 'userinfo.db');
}
