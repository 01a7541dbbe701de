import type { ReceivedSignature } from '../../src/lab/verify/suspect.js';
import { type Verification, verification } from '../../src/lab/verify/verify-signature.js';

/** The verification of a signature, without pauses. */
export function verifySignature(wrong: ReceivedSignature): Verification {
  const steps = verification(wrong);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
