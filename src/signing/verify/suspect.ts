import type { Recipe } from '../recipe.js';
import type { Param, SignableRequest } from '../request.js';
import type { Secret } from '../secret.js';
import type { Signer } from '../signer.js';

/** A mistake that explains a wrong signature. */
export interface Mistake {
  /** Stable, for programs: `secret-space`. */
  readonly id: string;
  /** How the request was signed, in one sentence without the secret. */
  readonly says: string;
  /** What to do about it, in one sentence. */
  readonly advice: string;
}

/** The inputs of a signature. */
export interface Attempt {
  readonly request: SignableRequest;
  readonly secret: Secret;
  readonly signer: Signer;
}

/** A mistake, and how it changes a correct signature. */
export interface Suspect extends Mistake {
  readonly change: Partial<Attempt>;
}

/** A received signature and its context. */
export interface ReceivedSignature extends Attempt {
  readonly received: string;
  /** Of the signer; null for a module. */
  readonly recipe: Recipe | null;
  /** Other secrets to try, with their names: `the secret of profile "shop"`. */
  readonly otherSecrets: readonly Named<Secret>[];
  /** Other recipes to try, with their names: `the preset taobao`. */
  readonly otherRecipes: readonly Named<Recipe>[];
  /** Parameters that were not sent but may have been signed: optional ones, with their defaults. */
  readonly unsent: readonly Param[];
}

export interface Named<T> {
  readonly name: string;
  readonly value: T;
}
