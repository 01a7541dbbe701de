import type { Endpoint } from '../../core/contract/endpoints.js';
import { type NoAnswerError, RejectedError } from './errors.js';
import { isFaultOfService, mayHaveActed } from './retry.js';

/** Said where the last attempt was not carried out, and an earlier one may have been. */
const earlierDoubt = 'Whether an earlier attempt was carried out is not known.';

/**
 * Judges the failure that ends a call or a row: `failed` if the request was certainly not carried
 * out, `unknown` if it may have been, and then the hint of the failure says so. `actedBefore`: the
 * service may have acted on an earlier attempt.
 */
export function judge(
  failure: RejectedError | NoAnswerError,
  { doubt }: Pick<Endpoint, 'doubt'>,
  actedBefore: boolean,
): 'failed' | 'unknown' {
  if (!mayHaveActed(failure)) {
    if (!actedBefore) return 'failed';
    failure.inDoubt(earlierDoubt);
    return 'unknown';
  }
  if (failure instanceof RejectedError) {
    if (!isFaultOfService(failure)) return 'failed';
    failure.inDoubt(doubt);
  }
  return 'unknown';
}
