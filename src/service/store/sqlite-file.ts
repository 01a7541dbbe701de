import { closeSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { StartError } from '../errors.js';

/** Makes the file of a database where there is none, for its owner alone. Throws where something else is there. */
export function makeSqliteFile(path: string): void {
  // To open a pipe would wait for somebody at its other end, and nothing could end that.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error('it is not a file');
  closeSync(openSync(path, 'a', 0o600));
}

/** Tells one file from another that takes its place; `null` where there is none. */
export function fileIdentity(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

/** Throws a StartError for a database of another application, before anything is written to it. */
export function refuseForeignDatabase(file: string): void {
  const tables = tablesOf(file);
  if (tables.length === 0 || tables.includes('userinfo_migrations')) return;
  throw new StartError(
    'CANNOT_OPEN_DATABASE',
    `cannot open the database ${file}: it holds the tables of another application`,
    { hint: 'Use a database of its own for the service.' },
  );
}

/** Of what cannot be read there are none: opening it says what is wrong. */
function tablesOf(file: string): string[] {
  try {
    if (!statSync(file).isFile()) return [];
    const database = new DatabaseSync(resolve(file), { readOnly: true });
    try {
      const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
      return rows.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}
