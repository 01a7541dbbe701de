import { unlessRefused } from '../../core/signing/recipe.js';
import type { Explanation } from '../../core/signing/signer.js';
import { decodePercent } from '../../core/support/percent-encoding.js';
import { recipeSuspects } from './recipe-suspects.js';
import { requestSuspects } from './request-suspects.js';
import { secretSuspects } from './secret-suspects.js';
import {
  type Mistake,
  pasted,
  type ReceivedSignature,
  type SignatureInputs,
  type Suspect,
} from './suspect.js';

/** The mistakes that explain a wrong signature together: most often one. */
export type Finding = readonly Mistake[];

/** What a finding says, or advises, as sentences in one text. */
export function sentencesOf(finding: Finding, part: 'says' | 'advice'): string {
  return finding.map((mistake) => mistake[part]).join(' ');
}

/** What the verification of a signature says. */
export interface Verification {
  readonly right: boolean;
  readonly received: string;
  /** The stages of the right signature; `digest` is the expected one. */
  readonly explanation: Explanation;
  /**
   * For a wrong one: the likely mistakes, the likeliest first; empty where no usual mistake
   * explains it.
   */
  readonly findings: readonly Finding[];
}

/**
 * Verifies a signature, and names the usual mistake that explains a wrong one. One candidate at a
 * time, so that a caller can do other work, or stop, between them.
 */
export function* verification(signature: ReceivedSignature): Generator<void, Verification> {
  const { signer, request, secret, received } = signature;
  const explanation = signer.explain(request, secret);
  if (explanation.digest === received) return { right: true, received, explanation, findings: [] };
  const findings = yield* mistakeSearch(signature);
  return { right: false, received, explanation, findings };
}

const maxFindings = 3;

/**
 * The most that a search for mistakes tries: candidates, and characters of their requests and
 * messages.
 */
const maxTried = 60_000;
const maxCharacters = 60_000_000;

/**
 * The usual mistakes that explain the received signature, the likeliest first: one in writing the
 * right digest, else single ones, else two of different kinds together. Empty where none does.
 */
function* mistakeSearch(signature: ReceivedSignature): Generator<void, readonly Finding[]> {
  const { url, query = '', params, body } = signature.request;
  const { message } = signature.signer.explain(signature.request, signature.secret);
  const size = message.length + url.length + query.length + (body?.length ?? 0);
  // A parameter takes about as long as 120 characters.
  const most = Math.min(maxTried, maxCharacters / (size + 120 * params.length + 200));
  const written = explain(signature, []);
  if (written !== null) return [written];
  let tried = 0;
  const findings = new Map<string, Finding>();
  for (const candidatesOf of [singlesOf, pairsOf]) {
    for (const suspects of candidatesOf(signature)) {
      tried += 1;
      if (tried > most || findings.size === maxFindings) break;
      const finding = explain(signature, suspects);
      const words = finding && sentencesOf(finding, 'says');
      if (finding !== null && words !== null && !findings.has(words)) findings.set(words, finding);
      yield;
    }
    if (findings.size > 0 || tried > most) break;
  }
  return [...findings.values()];
}

/**
 * The likeliest single mistake that explains the received signature, and the same mistake applied
 * to `shown`, for example a masked request; null where it would change nothing there. A search for
 * pairs takes many times as long.
 */
export function likeliestMistake(
  signature: ReceivedSignature,
  shown: ReceivedSignature,
): { readonly finding: Finding; readonly inputs: SignatureInputs | null } | null {
  const written = explain(signature, []);
  if (written !== null) return { finding: written, inputs: shown };
  for (const [suspect] of singlesOf(signature)) {
    const finding = explain(signature, [suspect]);
    if (finding !== null) return { finding, inputs: sameMistake(shown, suspect) };
  }
  return null;
}

function sameMistake(shown: ReceivedSignature, { id, says }: Mistake): SignatureInputs | null {
  for (const [suspect] of singlesOf(shown)) {
    if (suspect.id === id && suspect.says === says) return { ...shown, ...suspect.change };
  }
  return null;
}

/** The single mistakes that give a text to sign, which has the label in place of the secret. */
export function messageMistakes(
  signed: Omit<ReceivedSignature, 'received'>,
  message: string,
): Mistake[] {
  const signature = { ...signed, received: '' };
  const suspects = [...singlesOf(signature)].map(([suspect]) => suspect);
  return suspects.filter(({ change }) => {
    const { signer, request, secret } = { ...signature, ...change };
    return unlessRefused(() => signer.explain(request, secret).message) === message;
  });
}

function suspectsOf(signature: ReceivedSignature): Iterable<Suspect>[] {
  return [secretSuspects(signature), requestSuspects(signature), recipeSuspects(signature)];
}

function* singlesOf(signature: ReceivedSignature): Generator<[Suspect]> {
  for (const suspects of suspectsOf(signature)) for (const suspect of suspects) yield [suspect];
}

/**
 * The most suspects of a kind that are tried together with others, and with others of their own
 * kind.
 */
const maxPaired = 300;
const maxAlike = 100;

function* pairsOf(signature: ReceivedSignature): Generator<Suspect[]> {
  const ofRequest = [...requestSuspects(signature)].slice(0, maxPaired);
  const ofRecipe = recipeSuspects(signature).slice(0, maxPaired);
  yield* combinations(secretSuspects(signature), [...ofRequest, ...ofRecipe]);
  // The second is made in the request that the first left.
  for (const first of ofRequest.slice(0, maxAlike)) {
    const left = { ...signature, ...first.change };
    for (const second of [...requestSuspects(left)].slice(0, maxAlike)) yield [first, second];
  }
  yield* combinations(ofRequest, ofRecipe);
}

function* combinations(
  firsts: readonly Suspect[],
  seconds: readonly Suspect[],
): Generator<Suspect[]> {
  for (const first of firsts) for (const second of seconds) yield [first, second];
}

/**
 * The mistakes, with that of the digest's format where there is one; null where they do not explain
 * the signature.
 */
function explain(signature: ReceivedSignature, suspects: readonly Suspect[]): Finding | null {
  const changes = suspects.map(({ change }) => change);
  const { signer, request, secret }: SignatureInputs = Object.assign({}, signature, ...changes);
  const digest = unlessRefused(() => signer.sign(request, secret).digest);
  if (digest === null) return null;
  const mistakes = suspects.map(({ change: _, ...mistake }) => mistake);
  if (digest === signature.received) return mistakes;
  const written = writtenMistakes.find(({ fits }) => fits(digest, signature.received));
  if (written === undefined) return null;
  const { id, says, advice } = written;
  return [...mistakes, { id, says, advice }];
}

/** The shortest part of a digest that is recognized. */
const shortestPart = 8;

function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, '');
}

function inUrlAlphabet(text: string): string {
  return withoutPadding(text).replaceAll('+', '-').replaceAll('/', '_');
}

/** A mistake in writing the right digest. */
interface WrittenMistake extends Mistake {
  /** Whether the received signature is the expected one, written so. */
  fits(expected: string, received: string): boolean;
}

/** Mistakes in writing the right digest. */
const writtenMistakes: readonly WrittenMistake[] = [
  {
    id: 'signature-case',
    says: 'It is the right digest in the wrong letter case.',
    advice: 'Send the digest in the letter case that the recipe says.',
    fits: (expected, received) => received.toLowerCase() === expected.toLowerCase(),
  },
  {
    id: 'signature-encoding',
    says: 'It is the right digest, its + sent as it is: on the way it became a space.',
    advice: 'Percent-encode the signature as any other value: + is %2B.',
    fits: (expected, received) => received.replaceAll(' ', '+') === expected,
  },
  {
    id: 'signature-encoding',
    says: 'It is the right digest, encoded once too often.',
    advice: 'Encode the signature once.',
    fits: (expected, received) => received.includes('%') && decodePercent(received) === expected,
  },
  {
    id: 'signature-space',
    says: 'It is the right digest with white space, quotes or invisible characters around it.',
    advice: 'Trim the digest: a command that prints it adds a line break.',
    fits: (expected, received) => received.trim().replace(pasted, '') === expected,
  },
  {
    id: 'signature-padding',
    says: 'It is the right digest with more or less padding (=) at the end.',
    advice: 'Send base64 as the recipe says: with its padding, or without.',
    fits: (expected, received) => withoutPadding(received) === withoutPadding(expected),
  },
  {
    id: 'signature-alphabet',
    says:
      'It is the right digest in the other alphabet of base64: ' +
      '- and _ in the place of + and /, or the reverse.',
    advice: 'Write base64 as the recipe says: plain, or base64url.',
    fits: (expected, received) => inUrlAlphabet(received) === inUrlAlphabet(expected),
  },
  {
    id: 'signature-length',
    says: 'It is a part of the right digest.',
    advice:
      'Send all of it; where the operator wants a part, the recipe has the step slice:FROM:TO.',
    fits: (expected, received) => received.length >= shortestPart && expected.includes(received),
  },
];
