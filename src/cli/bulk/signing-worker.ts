import { parentPort, workerData } from 'node:worker_threads';
import type { PlainRequest } from '../../client/request.js';
import { RequestSigner } from '../../client/request-signer.js';
import type { SignedRequest } from '../../client/transport.js';
import { parseBaseUrl } from '../../protocol/base-url.js';
import { endpointOf } from '../../protocol/endpoints.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { type Packed, Packing } from './packed-requests.js';
import type { PackedSigner } from './packed-signer.js';

/** The thread that signs ahead: it is sent requests, and sends them back signed. */
const { operation, ...options } = workerData as PackedSigner;
const signer = new RequestSigner({ ...options, baseUrl: parseBaseUrl(options.baseUrl) });
const packing = new Packing(endpointOf(operation));

parentPort?.on('message', (requests: Packed) => {
  parentPort?.postMessage(packing.packSigned(packing.unpack(requests).map(sign)));
});

/** What cannot be signed is tried once more by the thread that sends, which says why. */
function sign(request: PlainRequest): SignedRequest | null {
  try {
    return signer.sign(request);
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}
