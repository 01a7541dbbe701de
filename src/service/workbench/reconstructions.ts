import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RejectedSignature } from '../log/explain-rejection.js';
import { type Reconstruction, reconstruct } from './reconstruct.js';
import type { RecentRequest } from './request-ring.js';

/** So many are looked into at a time. A search takes some milliseconds, and a client may send nothing but wrong ones. */
const atOnce = 20;

const known = new WeakMap<RejectedSignature, Reconstruction | null>();

/** Looks into the wrong signatures of some requests, each of them once. In between the service answers. */
export async function lookInto(requests: readonly RecentRequest[]): Promise<void> {
  const fresh = requests
    .map(({ rejection }) => rejection?.rejected ?? null)
    .filter((rejected) => rejected !== null && !known.has(rejected))
    .slice(0, atOnce);
  for (const rejected of fresh) {
    if (rejected === null) continue;
    await nextTurn();
    known.set(rejected, reconstruct(rejected));
  }
}

/** What was found out about a signature: `null` for nothing, `undefined` where it was not looked into. */
export function reconstructionOf(rejected: RejectedSignature | null): Reconstruction | null | undefined {
  return rejected === null ? undefined : known.get(rejected);
}
