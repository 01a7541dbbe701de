import { parentPort, workerData } from 'node:worker_threads';
import type { SignedRow } from '../../bulk/engine/prepared-row.js';
import { operationOf } from '../../bulk/operations/operation-of.js';
import { textsPerRow, toFields } from '../../bulk/source/row-fields.js';
import { RequestSigner } from '../../client/request-signer.js';
import { parseBaseUrl } from '../../protocol/base-url.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { type Packed, packSigned, unpackRows } from './packed-rows.js';
import type { SigningTask } from './signing-thread.js';

/** The thread that signs ahead: it is sent rows, and sends back what is to be sent for them. */
const {
  signer: { task, ...options },
  shape,
} = workerData as SigningTask;
const operation = operationOf(task);
const signer = new RequestSigner({ ...options, baseUrl: parseBaseUrl(options.baseUrl) });

parentPort?.on('message', (packed: Packed) => {
  const rows = unpackRows(packed, textsPerRow(shape));
  parentPort?.postMessage(packSigned(rows.map((texts) => (texts === null ? null : sign(texts)))));
});

/** What cannot be sent is tried once more by the thread that sends, which says why. */
function sign(texts: readonly string[]): SignedRow | null {
  try {
    const fields = toFields(shape, texts);
    const user = operation.user(fields);
    return { user, request: signer.sign(operation.request(fields)) };
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}
