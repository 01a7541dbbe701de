import { parameterText, unsentParameters } from '../../protocol/parameters.js';
import { defaultRecipes } from '../../signing/presets.js';
import { parseSigningRecipes } from '../../signing/recipe-json.js';
import { namedPresets } from '../../signing/verify/recipe-suspects.js';
import type { ReceivedSignature } from '../../signing/verify/suspect.js';
import { type Finding, likeliestMistake } from '../../signing/verify/verify-signature.js';
import { asSeenBy, type RejectedSignature } from '../log/explain-rejection.js';
import { cutStage, maskRequest } from '../log/mask-request.js';

/** How a wrong signature must have been made: its client made a usual mistake. */
export interface Reconstruction {
  readonly finding: Finding;
  /** What the client signed, masked as the log is; `null` where the difference is inside what is masked. */
  readonly stages: { readonly params: string; readonly message: string } | null;
  /** Whether it signed with another secret. */
  readonly otherSecret: boolean;
}

/** Finds the usual mistake that gives the signature that was received; `null` where none does. */
export function reconstruct(rejected: RejectedSignature): Reconstruction | null {
  const { signature, request, app } = rejected;
  const wrong = receivedSignature(rejected);
  const mistake = likeliestMistake(wrong);
  if (mistake === null) return null;
  const attempt = mistake.madeWith({ ...wrong, request: asSeenBy(signature, maskRequest(request, app)) });
  const { finding } = mistake;
  if (attempt === null) return { finding, stages: null, otherSecret: false };
  // With the app's own secret: another one may be in the request, say the app key, and would be hidden there.
  const { params, message } = attempt.signer.explain(attempt.request, app.app_secret);
  return {
    finding,
    stages: { params: cutStage(params), message: cutStage(message) },
    otherSecret: attempt.secret !== wrong.secret,
  };
}

function receivedSignature({ signature, request, app, signers }: RejectedSignature): ReceivedSignature {
  const recipes = app.recipes === null ? defaultRecipes : parseSigningRecipes(JSON.parse(app.recipes));
  return {
    request: asSeenBy(signature, request.signable),
    secret: app.app_secret,
    signer: signers[signature],
    received: parameterText(request.parameters, signature),
    recipe: recipes[signature],
    otherSecrets: [],
    otherRecipes: namedPresets,
    unsent: unsentParameters(request.endpoint, request.parameters),
  };
}
