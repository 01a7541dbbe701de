import { setImmediate as nextTurn } from 'node:timers/promises';
import { parameterText, unsentParameters } from '../../core/contract/parameters.js';
import { defaultRecipes } from '../../core/signing/presets.js';
import { parseSigningRecipes } from '../../core/signing/recipe-json.js';
import { namedPresets } from '../../lab/verify/recipe-suspects.js';
import type { ReceivedSignature } from '../../lab/verify/suspect.js';
import { type Finding, likeliestMistake } from '../../lab/verify/verify-signature.js';
import { asSeenBy, cutStage, maskRequest, type RejectedSignature } from '../rejection.js';
import type { App } from '../store/apps.js';
import type { RecentRequest } from './request-ring.js';

/** The cause of a wrong signature: by a common mistake. */
interface Reconstruction {
  readonly finding: Finding;
  /**
   * The text that the client signed, masked as in the log; `null` if the difference is in the
   * masked part.
   */
  readonly stages: { readonly params: string; readonly message: string } | null;
  /**
   * The text that the client signed in place of the secret, such as `<secret>␣`; `null` if it is
   * the secret.
   */
  readonly secret: string | null;
}

/** Finds the common mistake that explains the received signature; `null` if none does. */
function reconstruct(rejected: RejectedSignature): Reconstruction | null {
  const { signature, request, app } = rejected;
  const wrong = receivedSignature(rejected);
  const masked = { ...wrong, request: asSeenBy(signature, maskRequest(request, app)) };
  const mistake = likeliestMistake(wrong, masked);
  if (mistake === null) return null;
  const { finding, inputs } = mistake;
  if (inputs === null) return { finding, stages: null, secret: null };
  // With the app's own secret: another one may be part of the request, such as the app key, and
  // would be masked there.
  const { params, message } = inputs.signer.explain(inputs.request, app.app_secret);
  return {
    finding,
    stages: { params: cutStage(params), message: cutStage(message) },
    secret: inputs.secret === wrong.secret ? null : labelOf(inputs.secret.reveal(), app),
  };
}

/**
 * The text that was signed in place of the secret: what was added to it stays visible, anything
 * else is named.
 */
function labelOf(signed: string, { app_secret, app_key }: App): string {
  if (signed === '') return '<empty>';
  if (signed === app_key) return '<app key>';
  const [before, after] = signed.split(app_secret.reveal());
  if (before === undefined || after === undefined) return '<another secret>';
  return showBlanks(before) + String(app_secret) + showBlanks(after);
}

function showBlanks(text: string): string {
  return text.replace(
    /[^!-~]/gu,
    (character) => blanks.get(character) ?? escapeOf(character.charCodeAt(0)),
  );
}

function escapeOf(codeUnit: number): string {
  return `\\u${codeUnit.toString(16).padStart(4, '0')}`;
}

const blanks = new Map([
  [' ', '␣'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function receivedSignature({
  signature,
  request,
  app,
  signers,
}: RejectedSignature): ReceivedSignature {
  const recipes =
    app.recipes === null ? defaultRecipes : parseSigningRecipes(JSON.parse(app.recipes));
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

/**
 * Maximum number of signatures per call. A search takes some milliseconds, and a client may send
 * only wrong ones.
 */
const atOnce = 20;

/** The result of each signature that was analyzed. */
const reconstructions = new WeakMap<RejectedSignature, Reconstruction | null>();

/**
 * Analyzes the wrong signatures of some requests, each once. The service answers requests in
 * between.
 */
export async function analyze(requests: readonly RecentRequest[]): Promise<void> {
  const rejected = requests.flatMap(({ rejection }) => rejection?.rejected ?? []);
  const unknown = rejected.filter((signature) => !reconstructions.has(signature));
  for (const signature of unknown.slice(0, atOnce)) {
    await nextTurn();
    reconstructions.set(signature, reconstruct(signature));
  }
}

/**
 * The result for a signature: `null` if no mistake explains it, `undefined` if it was not analyzed.
 */
export function reconstructionOf(
  rejected: RejectedSignature | null,
): Reconstruction | null | undefined {
  return rejected === null ? undefined : reconstructions.get(rejected);
}
