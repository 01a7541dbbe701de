import type { Store } from '../store/store.js';

/** What the operations of the admin work with. */
export interface AdminContext {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Bytes from a cryptographic source. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/** The present second, in Unix time. */
export function unixSeconds({ now }: Pick<AdminContext, 'now'>): number {
  return Math.floor(now() / 1000);
}

/** Lower-case hex, two characters a byte. */
export function randomHex({ randomBytes }: Pick<AdminContext, 'randomBytes'>, bytes: number): string {
  return Buffer.from(randomBytes(bytes)).toString('hex');
}
