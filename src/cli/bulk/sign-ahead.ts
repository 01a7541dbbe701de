import { availableParallelism } from 'node:os';
import { SigningAhead } from '../../bulk/engine/signing-ahead.js';
import { onceBusy } from './once-busy.js';
import type { PackedSigner } from './packed-signer.js';
import { type StartedThread, startSigningThread } from './signing-thread.js';

/**
 * Has a thread sign ahead once this one is all that holds the run up: a quarter of its time goes into signing, and a
 * service that is slower would gain nothing. `signer` is `null` where no other thread can sign; `now` gives
 * milliseconds since 1970.
 */
export function signAheadOnceBusy(
  signer: PackedSigner | null,
  now: () => number,
): { readonly signingAhead: SigningAhead; end(): Promise<void> } {
  const signingAhead = new SigningAhead(now);
  if (signer === null || availableParallelism() === 1) return { signingAhead, async end() {} };
  let thread: StartedThread | null = null;
  const busy = onceBusy(() => {
    thread = startSigningThread(signer);
    signingAhead.begin(thread);
  });
  return {
    signingAhead,
    async end() {
      busy.stop();
      await thread?.end();
    },
  };
}
