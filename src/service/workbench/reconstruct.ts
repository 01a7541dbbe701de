import { setImmediate as nextTurn } from 'node:timers/promises';
import { parameterText, unsentParameters } from '../../protocol/parameters.js';
import { defaultRecipes } from '../../signing/presets.js';
import { parseSigningRecipes } from '../../signing/recipe-json.js';
import { namedPresets } from '../../signing/verify/recipe-suspects.js';
import type { ReceivedSignature } from '../../signing/verify/suspect.js';
import { type Finding, likeliestMistake } from '../../signing/verify/verify-signature.js';
import { asSeenBy, cutStage, maskRequest, type RejectedSignature } from '../rejection.js';
import type { RecentRequest } from './request-ring.js';

/** How a wrong signature must have been made: its client made a usual mistake. */
export interface Reconstruction {
  readonly finding: Finding;
  /** What the client signed, masked as the log is; `null` where the difference is inside what is masked. */
  readonly stages: { readonly params: string; readonly message: string } | null;
  /** Whether it signed with another secret. */
  readonly otherSecret: boolean;
}

/** Finds the usual mistake that gives the signature that was received; `null` where none does. */
function reconstruct(rejected: RejectedSignature): Reconstruction | null {
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
