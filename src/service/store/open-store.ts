import { quoteName } from '../../protocol/text.js';
import { loadPart } from '../../support/errors.js';
import { StartError, StoreUnavailableError } from '../errors.js';
import type { SqlDriver } from './sql-driver.js';
import { createStore, type Store } from './store.js';

export interface OpenStoreOptions {
  /** With PostgreSQL: how many connections there are at the most; 10 unless given. */
  readonly poolSize?: number;
  /** Whether the database, or its tables, are made where there are none, as they are unless told otherwise. */
  readonly create?: boolean;
}

/** A mistyped URL, which may hold a password: no message may show it, as it would show the name of a file. */
const likeUrl = /^\W*postgres(?:ql)?(?::|\/\/)|:\/\/|:[^/\\]*@/i;

/**
 * Opens a database: a SQLite file, which is made where there is none, `:memory:`, or PostgreSQL by its URL. Throws
 * a StartError where it cannot be used.
 */
export async function openStore(database: string, options: OpenStoreOptions = {}): Promise<Store> {
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(database)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') {
    // The packages of a database are loaded where they are needed.
    const { describePostgres, openPostgresDriver } = await loadPart(() => import('./postgres-driver.js'));
    return await open(describePostgres(database), options, () => openPostgresDriver(database, options));
  }
  if (scheme === undefined && likeUrl.test(database)) {
    throw new StartError(
      'CANNOT_OPEN_DATABASE',
      'the database is neither a file nor a URL that can be read',
      {
        hint: 'Write a URL as postgres://user@host/database, the password in PGPASSWORD.',
      },
    );
  }
  if (scheme === undefined && database !== '') {
    const { openSqliteDriver } = await loadPart(() => import('./sqlite-driver.js'));
    return await open(database, options, () => openSqliteDriver(database, options));
  }
  throw new StartError(
    'CANNOT_OPEN_DATABASE',
    scheme === undefined ? 'no database is named' : `databases of kind ${quoteName(scheme)} are not known`,
    { hint: 'Give the path of a SQLite file, :memory:, or a URL such as postgres://user@host/database.' },
  );
}

/** `name` is what messages call the database. */
async function open(
  name: string,
  options: OpenStoreOptions,
  openDriver: () => Promise<SqlDriver>,
): Promise<Store> {
  try {
    return await createStore(await openDriver(), options);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new StartError('CANNOT_OPEN_DATABASE', `cannot open the database ${name}: ${error.message}`, {
      hint: error.hint ?? 'Stop what else uses the database, or use another one.',
      cause: error,
    });
  }
}
