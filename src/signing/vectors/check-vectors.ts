import { RecipeError } from '../recipe-error.js';
import { Secret } from '../secret.js';
import { type RequestSignature, type SigningChoice, signaturesOf } from '../signing-choice.js';
import { compareMessages, type Difference } from '../verify/compare-messages.js';
import { findMistakes } from '../verify/verify-signature.js';
import { fillAppSign, vectorRequests, vectorSecret } from './make-vectors.js';
import { type StageName, type Stages, stageNames, type Vector } from './vector-file.js';

/** The result for one signature of one vector. */
export interface VectorCheck {
  readonly vector: string;
  readonly signature: string;
  /** `missing`: none of its stages is in the file. */
  readonly result: 'right' | 'wrong' | 'missing';
  /** For a wrong one: the first stage that differs. */
  readonly fault: StageFault | null;
}

export interface StageFault extends Difference {
  readonly stage: StageName;
}

/**
 * Checks vectors that another team computed; each result names the first stage that differs. `secretText` is the
 * secret they used; null for the secret of our own vectors.
 *
 * @throws RecipeError for a vector without a request whose name is unknown
 */
export function checkVectors(
  signing: SigningChoice,
  vectors: readonly Vector[],
  secretText: string | null,
): VectorCheck[] {
  const secret = new Secret(secretText ?? vectorSecret);
  return vectors.flatMap((vector) =>
    signaturesOf(signing, requestOf(vector, signing, secret)).map((signature): VectorCheck => {
      const { name } = signature;
      const stages = Object.hasOwn(vector.signatures, name) ? vector.signatures[name] : undefined;
      const about = { vector: vector.name, signature: name };
      if (stages === undefined || Object.keys(stages).length === 0) {
        return { ...about, result: 'missing', fault: null };
      }
      const fault = findFault(signature, stages, secret);
      return { ...about, result: fault === null ? 'right' : 'wrong', fault };
    }),
  );
}

function requestOf({ name, request }: Vector, signing: SigningChoice, secret: Secret) {
  if (request !== undefined) return request;
  const ours = vectorRequests.find((known) => known.name === name);
  if (ours !== undefined) return fillAppSign(signing, ours.request, secret);
  throw new RecipeError(
    `vector ${JSON.stringify(name)}`,
    'has no request, and is none of those that "sign vectors export" writes',
    'Leave the requests in the file.',
  );
}

function findFault(signature: RequestSignature, stages: Stages, secret: Secret): StageFault | null {
  const explanation = signature.signer.explain(signature.request, secret);
  for (const stage of stageNames) {
    const theirs = stages[stage];
    if (theirs === undefined) continue;
    const difference = compareMessages(explanation[stage], theirs, secret, {
      pairSep: signature.recipe?.params.pairSep ?? '&',
      kvSep: signature.recipe?.params.kvSep ?? '=',
    });
    if (difference === null) continue;
    return {
      ...difference,
      stage,
      causes: stage === 'digest' ? digestCauses(signature, stages, theirs, secret) : difference.causes,
    };
  }
  return null;
}

/** A digest does not show how it was made, so the likely mistakes are tried. */
function digestCauses(
  signature: RequestSignature,
  stages: Stages,
  received: string,
  secret: Secret,
): string[] {
  const known = { otherSecrets: [], otherRecipes: [], unsent: [] };
  const findings = findMistakes({ ...signature, ...known, secret, received });
  if (findings.length > 0) return findings.map((finding) => finding.map(({ says }) => says).join(' '));
  if (stages.message === undefined) return [];
  return [
    'The text is the same, its digest is not: another digest, key or output, or text that is not UTF-8.',
  ];
}
