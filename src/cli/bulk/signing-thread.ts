import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { SigningThread } from '../../bulk/engine/signing-ahead.js';
import type { SignedRequest } from '../../client/transport.js';
import { endpointOf } from '../../protocol/endpoints.js';
import { type Packed, Packing } from './packed-requests.js';
import type { PackedSigner } from './packed-signer.js';

/** What it makes does not live for long. */
const limits: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/** A signing thread that can be ended. */
export interface StartedThread extends SigningThread {
  end(): Promise<unknown>;
}

/** Starts a thread that signs. One that fails signs no more; it does not keep the process running. */
export function startSigningThread(signer: PackedSigner): StartedThread {
  const packing = new Packing(endpointOf(signer.operation));
  const worker = new Worker(new URL('./signing-worker.cjs', import.meta.url), {
    workerData: signer,
    resourceLimits: limits,
  });
  const waiting: ((signed: readonly (SignedRequest | null)[]) => void)[] = [];
  worker.on('message', (signed: Packed) => waiting.shift()?.(packing.unpackSigned(signed)));
  worker.on('error', () => {}); // what it does not sign is signed without it
  worker.unref();
  return {
    sign(requests, done) {
      waiting.push(done);
      worker.postMessage(packing.pack(requests));
    },
    end: () => worker.terminate(),
  };
}
