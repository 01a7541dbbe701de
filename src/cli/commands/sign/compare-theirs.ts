import type { Secret } from '../../../signing/secret.js';
import { compareMessages, type Difference } from '../../../signing/verify/compare-messages.js';
import type { CliContext } from '../../context.js';
import { readText } from '../../input.js';
import type { CheckedSignature } from './checked-signatures.js';
import { markDifference } from './mark-difference.js';

/** What the operator's text to sign was compared with, and where the two part. */
export interface Comparison {
  /** The parameter whose text to sign is the nearest. */
  readonly signature: string;
  /** `null` where the two are the same. */
  readonly difference: Difference | null;
}

/** `--theirs`: the text itself, `@file`, or `-` for standard input; of those two a line break at the end is not taken. */
export async function readTheirs(context: CliContext, theirs: string): Promise<string> {
  if (theirs !== '-' && !theirs.startsWith('@')) return theirs;
  return (await readText(context, theirs.replace(/^@/, ''))).replace(/\r?\n$/, '');
}

/** Compares the operator's text to sign with ours: with that of the signature where they part last. */
export function compareTheirs(
  signatures: readonly CheckedSignature[],
  theirs: string,
  secret: Secret,
): Comparison | null {
  const comparisons = signatures.map(({ name, signer, request, recipe }): Comparison => {
    const { pairSep = '&', kvSep = '=' } = recipe?.params ?? {};
    const { message } = signer.explain(request, secret);
    return { signature: name, difference: compareMessages(message, theirs, secret, { pairSep, kvSep }) };
  });
  const alike = ({ difference }: Comparison) => difference?.offset ?? Number.POSITIVE_INFINITY;
  return comparisons.toSorted((a, b) => alike(b) - alike(a))[0] ?? null;
}

/** A comparison as programs take it. */
export function comparisonRecord({ signature, difference }: Comparison) {
  return { signature, same: difference === null, ...difference };
}

/** A comparison as a person reads it: both texts with a mark where they part. */
export function showComparison({ signature, difference }: Comparison) {
  if (difference === null) return { 'compared with': signature, verdict: 'the same text to sign' };
  const { offset, causes } = difference;
  return {
    'compared with': signature,
    verdict: `they part at byte ${offset} (from 0)`,
    ...markDifference(difference),
    cause: causes.join(' ') || 'not known',
  };
}
