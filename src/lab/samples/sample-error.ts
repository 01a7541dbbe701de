// Apart from captured-request.ts, which imports readers that throw it.
import { UserInfoError } from '../../core/support/errors.js';

/**
 * A text that is not a request, or has a part that cannot be read. The message contains no value
 * from the text.
 */
export class SampleError extends UserInfoError {
  readonly code = 'INVALID_SAMPLE';

  constructor(message: string, hint?: string) {
    super(message, { hint });
  }
}
