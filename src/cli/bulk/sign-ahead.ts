import { availableParallelism } from 'node:os';
import { SigningAhead } from '../../bulk/engine/signing-ahead.js';
import type { FileRow, RowFormat } from '../../bulk/source/row-format.js';
import { onceBusy } from './once-busy.js';
import type { PackedSigner } from './packed-signer.js';
import { type StartedThread, startSigningThread } from './signing-thread.js';

/**
 * Has a thread sign ahead once this one is all that holds the run up: a third of its time goes into making and signing
 * requests, and a service that is slower would gain nothing. `signer` is `null` where no other thread can sign; `now`
 * gives milliseconds since 1970.
 */
export function signAheadOnceBusy<Row extends FileRow>(
  signer: PackedSigner | null,
  format: RowFormat<Row>,
  now: () => number,
): { readonly signingAhead: SigningAhead<Row>; end(): Promise<void> } {
  const signingAhead = new SigningAhead<Row>(now);
  if (signer === null || availableParallelism() === 1) return { signingAhead, async end() {} };
  let thread: StartedThread<Row> | null = null;
  const busy = onceBusy(() => {
    signingAhead.begin(() => {
      thread = startSigningThread(signer, format);
      return thread;
    });
  });
  return {
    signingAhead,
    async end() {
      busy.stop();
      await thread?.end();
    },
  };
}
