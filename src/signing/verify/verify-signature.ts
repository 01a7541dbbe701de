import { RecipeError } from '../recipe-error.js';
import type { Explanation } from '../signer.js';
import { compareDigest } from './compare-digest.js';
import { recipeSuspects } from './recipe-suspects.js';
import { requestSuspects } from './request-suspects.js';
import { secretSuspects } from './secret-suspects.js';
import type { Attempt, Mistake, ReceivedSignature, Suspect } from './suspect.js';

/** The result of verifying a signature. */
export interface Verdict {
  readonly right: boolean;
  readonly received: string;
  /** How it should have been made; `digest` is the expected signature. */
  readonly explanation: Explanation;
  /** For a wrong one: the likely mistakes, the likeliest first; empty where no usual mistake explains it. */
  readonly findings: readonly Finding[];
}

/** Verifies a signature, and names the usual mistake that explains a wrong one. */
export function verifySignature(wrong: ReceivedSignature): Verdict {
  const { signer, request, secret, received } = wrong;
  const explanation = signer.explain(request, secret);
  const right = explanation.digest === received;
  return { right, received, explanation, findings: right ? [] : findMistakes(wrong) };
}

/** Mistakes that were made together. */
export type Finding = readonly Mistake[];

/** A mistake that explains a received signature by itself. */
interface LikelyMistake {
  readonly finding: Finding;
  /**
   * The same mistake applied to another request, for example a masked one; null where it would change nothing
   * there.
   */
  readonly madeWith: (other: ReceivedSignature) => Attempt | null;
}

const mostFindings = 3;

/**
 * The usual mistakes that explain the received signature, the likeliest first: single ones, else two of different
 * kinds together. Empty where none does.
 */
export function findMistakes(wrong: ReceivedSignature): readonly Finding[] {
  const kinds = suspectsOf(wrong);
  const alone = [[], ...kinds.flat().map((suspect) => [suspect])];
  return firstFits(wrong, alone) ?? firstFits(wrong, pairsOf(kinds)) ?? [];
}

/** The likeliest single mistake that explains the received signature; a search for pairs takes many times as long. */
export function likeliestMistake(wrong: ReceivedSignature): LikelyMistake | null {
  const written = tryOut(wrong, []);
  if (written !== null) return { finding: written, madeWith: (other) => other };
  for (const suspect of suspectsOf(wrong).flat()) {
    const finding = tryOut(wrong, [suspect]);
    if (finding !== null) return { finding, madeWith: (other) => sameMistake(other, suspect) };
  }
  return null;
}

function sameMistake(other: ReceivedSignature, { id, says }: Mistake): Attempt | null {
  const same = suspectsOf(other)
    .flat()
    .find((suspect) => suspect.id === id && suspect.says === says);
  return same === undefined ? null : { ...other, ...same.change };
}

function suspectsOf(wrong: ReceivedSignature): Suspect[][] {
  return [secretSuspects(wrong), requestSuspects(wrong), recipeSuspects(wrong)];
}

function* pairsOf(kinds: readonly (readonly Suspect[])[]): Generator<Suspect[]> {
  for (const [index, kind] of kinds.entries()) {
    for (const one of kind) {
      for (const other of kinds.slice(index + 1).flat()) yield [one, other];
    }
  }
}

function firstFits(wrong: ReceivedSignature, candidates: Iterable<readonly Suspect[]>): Finding[] | null {
  const findings = new Map<string, Finding>();
  for (const suspects of candidates) {
    const finding = tryOut(wrong, suspects);
    if (finding === null) continue;
    const words = finding.map(({ says }) => says).join(' ');
    if (!findings.has(words)) findings.set(words, finding);
    if (findings.size === mostFindings) break;
  }
  return findings.size === 0 ? null : [...findings.values()];
}

/**
 * The mistakes, with that of the digest's format where there is one; null where they do not explain the signature.
 */
function tryOut(wrong: ReceivedSignature, suspects: readonly Suspect[]): Finding | null {
  const changes = suspects.map(({ change }) => change);
  const digest = digestOf(Object.assign({}, wrong, ...changes));
  const compared = digest === null ? null : compareDigest(digest, wrong.received);
  if (compared === null) return null;
  const mistakes = suspects.map(({ id, says, advice }) => ({ id, says, advice }));
  if (compared === 'same') return mistakes;
  const { id, says, advice } = compared;
  return [...mistakes, { id, says, advice }];
}

/** Null where the secret does not suit the recipe, for example a key that is not base64. */
function digestOf({ signer, request, secret }: Attempt): string | null {
  try {
    return signer.sign(request, secret).digest;
  } catch (error) {
    if (error instanceof RecipeError) return null;
    throw error;
  }
}
