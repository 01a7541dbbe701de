import { computeDigest } from './digest.js';
import { stepsLength } from './digest-length.js';
import { masked, plain, showMasked } from './ink.js';
import { compilePlan } from './plan.js';
import type { Recipe } from './recipe.js';
import { extraOf, paramOf, type SignableRequest } from './request.js';
import { Scope, stepInputs } from './scope.js';
import type { Secret } from './secret.js';
import type { Explanation, Signature, Signer } from './signer.js';
import type { Token } from './tokens.js';

/**
 * Reads a recipe once, to sign many requests with. `field` is where the recipe stands, for the errors.
 *
 * @throws RecipeError for a recipe that says nothing sensible
 */
export function compileRecipe(recipe: Recipe, field = ''): Signer {
  const plan = compilePlan(recipe, field);
  const { encodeMessage } = plan;

  const sign = (request: SignableRequest, secret: Secret): Signature => {
    const scope = new Scope(plan, request, secret, plain);
    const message = encodeMessage(scope.text(plan.message));
    const digest = computeDigest(plan.steps, message, stepInputs(plan, scope));
    return { params: scope.params, message, digest };
  };
  const explain = (request: SignableRequest, secret: Secret): Explanation => {
    const scope = new Scope(plan, request, secret, masked);
    const message = scope.text(plan.message);
    return {
      params: showMasked(scope.params),
      message: showMasked(message, encodeMessage),
      digest: sign(request, secret).digest,
      missing: missingTokens(plan.tokens, request),
    };
  };
  return { digestLength: stepsLength(plan.steps), sign, explain };
}

/** The stages of one signature. To sign many requests by one recipe, compile it. */
export function computeSignature(recipe: Recipe, request: SignableRequest, secret: Secret): Signature {
  return compileRecipe(recipe).sign(request, secret);
}

/** The same stages as they may be shown: `<secret>` where the secret takes part, `<sub>` for a sub-digest. */
export function explainSignature(recipe: Recipe, request: SignableRequest, secret: Secret): Explanation {
  return compileRecipe(recipe).explain(request, secret);
}

function missingTokens(tokens: readonly Token[], request: SignableRequest): string[] {
  const missing = tokens.filter(
    ({ source, name }) =>
      (source === 'param' && paramOf(request, name) === undefined) ||
      (source === 'extra' && extraOf(request, name) === undefined),
  );
  return [...new Set(missing.map(({ source, name }) => `$${source}:${name}`))];
}
