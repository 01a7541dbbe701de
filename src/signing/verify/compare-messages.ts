import type { Secret } from '../secret.js';
import { findCauses } from './difference-causes.js';
import { placeSecret } from './place-secret.js';

/** Where two texts to sign part, and why. */
export interface Difference {
  /** Of the first byte that differs, in UTF-8, counted from 0. */
  readonly offset: number;
  /** A stretch of each text around that place; they begin alike. */
  readonly ours: string;
  readonly theirs: string;
  /** How many characters of the stretches are alike. */
  readonly alike: number;
  /** Likely causes in words, likeliest first; empty where none is known. */
  readonly causes: readonly string[];
}

/** How the pairs of a text to sign are joined. */
export interface Separators {
  readonly pairSep: string;
  readonly kvSep: string;
}

const before = 24;
const after = 40;

/**
 * Compares our text to sign, labelled in place of the secret, with another's, which may hold the secret, or stars or
 * the like in its place. Null where they are the same.
 */
export function compareMessages(
  ours: string,
  given: string,
  secret: Secret,
  separators: Separators,
): Difference | null {
  const { text: theirs, otherLength } = placeSecret(ours, given, secret);
  if (ours === theirs) return null;
  const at = alikeLength(ours, theirs);
  const start = Math.max(0, at - before);
  return {
    offset: firstDifference(Buffer.from(ours), Buffer.from(theirs)),
    ours: ours.slice(start, at + after),
    theirs: theirs.slice(start, at + after),
    alike: at - start,
    causes:
      otherLength === null ? findCauses(ours, theirs, separators) : [otherSecretCause(otherLength, secret)],
  };
}

/** How far two texts begin alike, in UTF-16 units. The two halves of an emoji are not taken apart. */
export function alikeLength(a: string, b: string): number {
  const at = firstDifference(a, b);
  return /[\ud800-\udbff]/.test(a[at - 1] ?? '') ? at - 1 : at;
}

function otherSecretCause(length: number, secret: Secret): string {
  const ours = secret.reveal().length;
  return length === ours
    ? `Another secret than ours, of the same length (${ours} characters).`
    : `Another secret than ours: theirs has ${length} characters, ours ${ours}.`;
}

function firstDifference<T extends string | Buffer>(a: T, b: T): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}
