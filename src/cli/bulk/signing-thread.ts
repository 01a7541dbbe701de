import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { SignedRow } from '../../bulk/engine/prepared-row.js';
import type { SigningThread } from '../../bulk/engine/signing-ahead.js';
import { type RowShape, textsPerRow } from '../../bulk/source/row-fields.js';
import type { FileRow, RowFormat } from '../../bulk/source/row-format.js';
import { endpointOf } from '../../protocol/endpoints.js';
import { type Packed, packRows, unpackSigned } from './packed-rows.js';
import type { PackedSigner } from './packed-signer.js';

/** What the thread is given at its start. */
export interface SigningTask {
  readonly signer: PackedSigner;
  readonly shape: RowShape;
}

/** A signing thread that can be ended. */
export interface StartedThread<Row> extends SigningThread<Row> {
  end(): Promise<unknown>;
}

/** What it makes does not live for long. */
const limits: ResourceLimits = { maxYoungGenerationSizeMb: 4 };

/**
 * Starts a thread that makes and signs requests, once rows of that format were read. One that fails signs no more; it
 * does not keep the process running.
 */
export function startSigningThread<Row extends FileRow>(
  signer: PackedSigner,
  format: RowFormat<Row>,
): StartedThread<Row> {
  const { shape } = format;
  const endpoint = endpointOf(signer.task.operation);
  const task: SigningTask = { signer, shape };
  const worker = new Worker(new URL('./signing-worker.cjs', import.meta.url), {
    workerData: task,
    resourceLimits: limits,
  });
  const waiting: ((signed: readonly (SignedRow | null)[]) => void)[] = [];
  worker.on('message', (signed: Packed) => waiting.shift()?.(unpackSigned(signed, endpoint)));
  worker.on('error', () => {}); // what it does not sign is signed without it
  worker.unref();
  return {
    sign(rows, done) {
      waiting.push(done);
      const texts = rows.map((row) => format.texts(row));
      worker.postMessage(packRows(texts, textsPerRow(shape)));
    },
    end: () => worker.terminate(),
  };
}
