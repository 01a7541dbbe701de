import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RejectedSignature } from '../log/explain-rejection.js';
import { type Reconstruction, reconstruct } from './reconstruct.js';
import type { RecentRequest } from './request-ring.js';

/** So many are looked into at a time. A search takes some milliseconds, and a client may send nothing but wrong ones. */
const atOnce = 20;

const known = new WeakMap<RejectedSignature, Reconstruction | null>();

/** Looks into the wrong signatures of some requests, each of them once. In between the service answers. */
export async function lookInto(requests: readonly RecentRequest[]): Promise<void> {
  const rejected = requests.flatMap(({ rejection }) => rejection?.rejected ?? []);
  for (const fresh of rejected.filter((one) => !known.has(one)).slice(0, atOnce)) {
    await nextTurn();
    known.set(fresh, reconstruct(fresh));
  }
}

/** What was found out about a signature: `null` for nothing, `undefined` where it was not looked into. */
export function reconstructionOf(rejected: RejectedSignature | null): Reconstruction | null | undefined {
  return rejected === null ? undefined : known.get(rejected);
}
