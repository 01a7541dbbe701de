import { createHash } from 'node:crypto';

/**
 * What stands for a named value in the index: names and values may be long, a digest is not. No name holds
 * U+0000, so no two pairs run together.
 */
export function valueDigest(name: string, value: string): string {
  return createHash('sha256').update(`${name}\0${value}`).digest('base64url');
}
