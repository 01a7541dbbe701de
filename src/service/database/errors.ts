import { UserInfoError, type UserInfoErrorOptions } from '../../core/contract/errors.js';
import { resultCode } from '../../core/contract/result-codes.js';

/**
 * Why the service, or its database, cannot be started. OLD_SCHEMA: its migrations were not applied.
 */
export type StartFault = 'PORT_IN_USE' | 'CANNOT_LISTEN' | 'CANNOT_OPEN_DATABASE' | 'OLD_SCHEMA';

/** The next step where a database is missing. */
export const missingDatabase = {
  hint: 'Name the database of the service with --database, or create it:',
  commands: ['userinfo admin migrate'],
} as const;

/**
 * The service, or its database, cannot be started: nothing was opened, or it is closed again.
 *
 * @example
 * if (error instanceof StartError && error.code === 'PORT_IN_USE') await createService({ port: 0 });
 */
export class StartError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'StartError';
  readonly code: StartFault;

  constructor(
    message: string,
    options: UserInfoErrorOptions & { readonly code?: StartFault } = {},
  ) {
    super(message, options);
    this.code = options.code ?? 'CANNOT_OPEN_DATABASE';
  }
}

/**
 * The database cannot answer now: locked, full, read-only, closed or damaged. Nothing of this unit
 * of work was stored.
 *
 * @example
 * if (error instanceof StoreUnavailableError) console.error('try again', error.hint);
 */
export class StoreUnavailableError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'StoreUnavailableError';
  readonly code = 'STORE_UNAVAILABLE';
  readonly resultCode = resultCode.storeUnavailable;
}

/** Why the statement that checks whether the database can be written to shows nothing. */
export const nothingWritten =
  'the row that checks whether the database can be written to is missing';

/**
 * The database is healthy, but this unit of work was not run: a row that it needs stays locked, or too
 * many wait. Nothing of it was stored.
 */
export class DatabaseBusyError extends StoreUnavailableError {}
