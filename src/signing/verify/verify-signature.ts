import { decodePercent } from '../encodings.js';
import { RecipeError } from '../recipe.js';
import type { Explanation } from '../signer.js';
import { recipeSuspects } from './recipe-suspects.js';
import { requestSuspects } from './request-suspects.js';
import { secretSuspects } from './secret-suspects.js';
import type { Mistake, ReceivedSignature, SignatureInputs, Suspect } from './suspect.js';

/** Mistakes that were made together. */
export type Finding = readonly Mistake[];

export function sentencesOf(finding: Finding, part: 'says' | 'advice'): string {
  return finding.map((mistake) => mistake[part]).join(' ');
}

/** The result of a verification. */
export interface Verification {
  readonly right: boolean;
  readonly received: string;
  /** The stages of the right signature; `digest` is the expected one. */
  readonly explanation: Explanation;
  /** For a wrong one: the likely mistakes, the likeliest first; empty where no usual mistake explains it. */
  readonly findings: readonly Finding[];
}

/** Verifies a signature, and names the usual mistake that explains a wrong one. */
export function verifySignature(wrong: ReceivedSignature): Verification {
  const { signer, request, secret, received } = wrong;
  const explanation = signer.explain(request, secret);
  const right = explanation.digest === received;
  return { right, received, explanation, findings: right ? [] : findMistakes(wrong) };
}

const mostFindings = 3;

/**
 * The usual mistakes that explain the received signature, the likeliest first: one in writing the right digest, else
 * single ones, else two of different kinds together. Empty where none does.
 */
export function findMistakes(wrong: ReceivedSignature): readonly Finding[] {
  const written = explain(wrong, []);
  if (written !== null) return [written];
  const kinds = suspectsOf(wrong);
  const alone = findingsAmong(
    wrong,
    kinds.flat().map((suspect) => [suspect]),
  );
  return alone.length > 0 ? alone : findingsAmong(wrong, pairsOf(kinds));
}

/**
 * The likeliest single mistake that explains the received signature, and the same mistake applied to `shown`, for
 * example a masked request; null where it would change nothing there. A search for pairs takes many times as long.
 */
export function likeliestMistake(
  wrong: ReceivedSignature,
  shown: ReceivedSignature,
): { readonly finding: Finding; readonly inputs: SignatureInputs | null } | null {
  const written = explain(wrong, []);
  if (written !== null) return { finding: written, inputs: shown };
  for (const suspect of suspectsOf(wrong).flat()) {
    const finding = explain(wrong, [suspect]);
    if (finding !== null) return { finding, inputs: sameMistake(shown, suspect) };
  }
  return null;
}

function sameMistake(other: ReceivedSignature, { id, says }: Mistake): SignatureInputs | null {
  const suspects = suspectsOf(other).flat();
  const same = suspects.find((suspect) => suspect.id === id && suspect.says === says);
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

function findingsAmong(wrong: ReceivedSignature, candidates: Iterable<readonly Suspect[]>): Finding[] {
  const findings = new Map<string, Finding>();
  for (const suspects of candidates) {
    const finding = explain(wrong, suspects);
    if (finding === null) continue;
    const words = sentencesOf(finding, 'says');
    if (!findings.has(words)) findings.set(words, finding);
    if (findings.size === mostFindings) break;
  }
  return [...findings.values()];
}

/** The mistakes, with that of the digest's format where there is one; null where they do not explain the signature. */
function explain(wrong: ReceivedSignature, suspects: readonly Suspect[]): Finding | null {
  const changes = suspects.map(({ change }) => change);
  const digest = digestOf(Object.assign({}, wrong, ...changes));
  if (digest === null) return null;
  const mistakes = suspects.map(({ change: _, ...mistake }) => mistake);
  if (digest === wrong.received) return mistakes;
  const written = writtenMistakes.find(({ fits }) => fits(digest, wrong.received));
  return written === undefined ? null : [...mistakes, written.mistake];
}

/** Null where the secret does not suit the recipe, for example a key that is not base64. */
function digestOf({ signer, request, secret }: SignatureInputs): string | null {
  try {
    return signer.sign(request, secret).digest;
  } catch (error) {
    if (error instanceof RecipeError) return null;
    throw error;
  }
}

/** The shortest part of a digest that is recognized. */
const shortestPart = 8;

/** Mistakes in writing the right digest. */
const writtenMistakes: readonly {
  readonly mistake: Mistake;
  readonly fits: (expected: string, received: string) => boolean;
}[] = [
  {
    mistake: {
      id: 'signature-case',
      says: 'It is the right digest in the wrong letter case.',
      advice: 'Send the digest in the letter case that the recipe says.',
    },
    fits: (expected, received) =>
      /^[\da-f]+$/i.test(expected) && received.toLowerCase() === expected.toLowerCase(),
  },
  {
    mistake: {
      id: 'signature-encoding',
      says: 'It is the right digest, its + sent as it is: on the way it became a space.',
      advice: 'Percent-encode the signature as any other value: + is %2B.',
    },
    fits: (expected, received) => received.replaceAll(' ', '+') === expected,
  },
  {
    mistake: {
      id: 'signature-encoding',
      says: 'It is the right digest, encoded once too often.',
      advice: 'Encode the signature once.',
    },
    fits: (expected, received) => received.includes('%') && decodePercent(received) === expected,
  },
  {
    mistake: {
      id: 'signature-space',
      says: 'It is the right digest with white space around it.',
      advice: 'Trim the digest: a command that prints it adds a line break.',
    },
    fits: (expected, received) => received.trim() === expected,
  },
  {
    mistake: {
      id: 'signature-length',
      says: 'It is a part of the right digest.',
      advice: 'Send all of it; where the operator wants a part, the recipe has the step slice:FROM:TO.',
    },
    fits: (expected, received) => received.length >= shortestPart && expected.includes(received),
  },
];
