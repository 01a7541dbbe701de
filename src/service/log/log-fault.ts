import { UserInfoError } from '../../protocol/errors.js';
import { StoreUnavailableError } from '../errors.js';
import type { Log } from './log.js';

/** Tells the operator of a failure that needs him: one of the store, or one that nobody meant. */
export function logFault(log: Log, error: unknown): void {
  if (error instanceof StoreUnavailableError) log({ event: 'store_unavailable', problem: error.message });
  else if (!(error instanceof UserInfoError)) log({ event: 'fault', problem: describe(error) });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
