import { forAppSign, forSign, type Signers } from './app-signatures.js';
import type { Recipe } from './recipe.js';
import type { SignableRequest } from './request.js';
import type { Signer } from './signer.js';

/** How a request is signed: once, by one recipe, or twice, by the recipes or modules of an app. */
export type SigningChoice = OneSigner | SignerPair;

export interface OneSigner {
  readonly kind: 'one';
  readonly signer: Signer;
  readonly recipe: Recipe;
}

export interface SignerPair {
  readonly kind: 'pair';
  readonly signers: Signers;
  /** `null` where a module signs. */
  readonly recipes: { readonly app_sign: Recipe | null; readonly sign: Recipe | null };
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
 * The signatures of a request that already has its `app_sign`: the one of a single recipe, or `app_sign` and
 * `sign`. `signParam` is the parameter of the only signature, or of `sign`.
 */
export function signaturesOf(
  choice: SigningChoice,
  request: SignableRequest,
  signParam = 'sign',
): RequestSignature[] {
  if (choice.kind === 'one') {
    return [{ name: signParam, request, signer: choice.signer, recipe: choice.recipe }];
  }
  const { signers, recipes } = choice;
  return [
    { name: 'app_sign', request: forAppSign(request), signer: signers.app_sign, recipe: recipes.app_sign },
    { name: signParam, request: forSign(request), signer: signers.sign, recipe: recipes.sign },
  ];
}
