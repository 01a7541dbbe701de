import { compileRecipe } from './compile-recipe.js';
import { fieldPath, type Recipe, type SigningRecipes } from './recipe.js';
import { paramOf, type SignableRequest, withoutParams, withQueryValue } from './request.js';
import type { Secret } from './secret.js';
import {
  type Explanation,
  isPromise,
  type RequestSigner,
  type Signature,
  type Signer,
} from './signer.js';

/**
 * The signers of an app, one for each of its two signatures.
 *
 * @example
 * const signing: Signers = {
 *   app_sign: compileRecipe(defaultRecipes.app_sign),
 *   sign: moduleSigner(await import('./our-signing.js'), 'our-signing.js'),
 * };
 */
export interface Signers {
  /** The signer of the application signature (§5.5). */
  readonly app_sign: Signer;
  /** The signer of the data signature (§5.6). */
  readonly sign: Signer;
}

/**
 * The signers of a client's requests. Each may return a promise, such as that of a key service that
 * the secret never leaves.
 *
 * @example
 * const signing: RequestSigners = { app_sign: kmsSigner, sign: kmsSigner };
 * const client = new UserInfoClient({ ...options, appSecret: 'kept by the key service', signing });
 */
export interface RequestSigners {
  /** The signer of the application signature (§5.5). */
  readonly app_sign: RequestSigner;
  /** The signer of the data signature (§5.6). */
  readonly sign: RequestSigner;
}

/** The two signatures of a request, in the order in which they are made (§5.5, §5.6). */
export const signatureNames = ['app_sign', 'sign'] as const;
export type SignatureName = (typeof signatureNames)[number];

/** Something of each of the two signatures. */
type Pair<T> = Readonly<Record<SignatureName, T>>;

/** The digests of both signatures. */
export type Digests = Pair<Pick<Signature, 'digest'>>;

/** Both signatures of a request, with their stages. */
export type SignaturePair = Pair<Signature>;

/** Both signatures with their stages, the secret masked; see `Explanation`. */
export type ExplanationPair = Pair<Explanation>;

/**
 * Compiles the recipes of an app; `field` is the path of both, for error messages.
 *
 * @throws RecipeError for an invalid recipe
 */
export function compileRecipes(recipes: SigningRecipes, field = ''): Signers {
  return {
    app_sign: compileRecipe(recipes.app_sign, fieldPath(field, 'app_sign')),
    sign: compileRecipe(recipes.sign, fieldPath(field, 'sign')),
  };
}

/**
 * Signs a request (§5.5, §5.6): `app_sign` over the parameters without the two signatures, `sign`
 * over those and the new `app_sign`. The new `app_sign` takes the place of one in `request.params`,
 * else the last place. A `sign` in `request.params` is ignored. The result is a promise if a signer
 * returns one.
 *
 * @throws RecipeError as the signers do
 */
export function signBoth(signers: Signers, request: SignableRequest, secret: Secret): SignaturePair;
export function signBoth(
  signers: RequestSigners,
  request: SignableRequest,
  secret: Secret,
): Digests | PromiseLike<Digests>;
export function signBoth(
  signers: RequestSigners,
  request: SignableRequest,
  secret: Secret,
): Digests | PromiseLike<Digests> {
  const signRest = (app_sign: Digests['app_sign']) => {
    const signed = signers.sign.sign(withAppSign(forSign(request), app_sign.digest), secret);
    if (isPromise(signed)) return signed.then((sign) => ({ app_sign, sign }));
    return { app_sign, sign: signed };
  };
  const appSign = signers.app_sign.sign(forAppSign(request), secret);
  if (isPromise(appSign)) return appSign.then(signRest);
  return signRest(appSign);
}

/**
 * Explains what `signBoth` does. A non-empty `app_sign` of the request is kept.
 *
 * @throws RecipeError as the signers do
 */
export function explainBoth(
  signers: Signers,
  request: SignableRequest,
  secret: Secret,
): ExplanationPair {
  const app_sign = signers.app_sign.explain(forAppSign(request), secret);
  const hasAppSign = Boolean(paramOf(request, 'app_sign'));
  const complete = hasAppSign ? request : withAppSign(request, app_sign.digest);
  return { app_sign, sign: signers.sign.explain(forSign(complete), secret) };
}

/** The request with this `app_sign`: in the place of the one that it has, else as the last one. */
export function withAppSign(request: SignableRequest, digest: string): SignableRequest {
  const params = [...request.params];
  const index = params.findIndex(([name]) => name === 'app_sign');
  if (index < 0) params.push(['app_sign', digest]);
  else params[index] = ['app_sign', digest];
  const { query } = request;
  if (query === undefined) return { ...request, params };
  return { ...request, params, query: withQueryValue(query, 'app_sign', digest, index < 0) };
}

/**
 * The signatures that a received request should have. `sign` is computed with the received
 * `app_sign`, right or wrong, so that each signature is judged by itself.
 *
 * @throws RecipeError as the signers do
 */
export function expectedSignatures(
  signers: Signers,
  received: SignableRequest,
  secret: Secret,
): SignaturePair {
  return {
    app_sign: signers.app_sign.sign(forAppSign(received), secret),
    sign: signers.sign.sign(forSign(received), secret),
  };
}

/** The request as the recipe of `app_sign` sees it. */
export function forAppSign(request: SignableRequest): SignableRequest {
  return withoutParams(request, signatureNames);
}

/** The request as the recipe of `sign` sees it. */
export function forSign(request: SignableRequest): SignableRequest {
  if (paramOf(request, 'sign') === undefined) return request;
  return withoutParams(request, ['sign']);
}

/**
 * The signers of a request: one recipe, or the recipes or modules of an app for its two signatures.
 */
export type SigningChoice =
  | { readonly kind: 'one'; readonly signer: Signer; readonly recipe: Recipe }
  | SignerPair;

/** The signers of both signatures, and the recipes that they were made of. */
export interface SignerPair {
  readonly kind: 'pair';
  readonly signers: Signers;
  /** `null` where a module signs. */
  readonly recipes: Pair<Recipe | null>;
}

/** One signature of a request. */
export interface RequestSignature {
  /** The parameter that carries it. */
  readonly name: string;
  /** The request as the signer sees it. */
  readonly request: SignableRequest;
  readonly signer: Signer;
  /** `null` for a module. */
  readonly recipe: Recipe | null;
}

/**
 * The signatures of a request that already has its `app_sign`: `sign` by a single recipe, or
 * `app_sign` and `sign`.
 */
export function signaturesOf(choice: SigningChoice, request: SignableRequest): RequestSignature[] {
  if (choice.kind === 'one') {
    return [{ name: 'sign', request, signer: choice.signer, recipe: choice.recipe }];
  }
  const { signers, recipes } = choice;
  return [
    {
      name: 'app_sign',
      request: forAppSign(request),
      signer: signers.app_sign,
      recipe: recipes.app_sign,
    },
    { name: 'sign', request: forSign(request), signer: signers.sign, recipe: recipes.sign },
  ];
}
