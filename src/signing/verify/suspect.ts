import type { Recipe } from '../recipe.js';
import type { Param, SignableRequest } from '../request.js';
import type { Secret } from '../secret.js';
import type { Signer } from '../signer.js';

/** What made a signature that does not fit. */
export interface Mistake {
  /** Stable, for programs, such as `secret-space`. */
  readonly id: string;
  /** How the request was signed: one sentence. It shows no secret. */
  readonly says: string;
  /** What to do about it: one sentence. */
  readonly advice: string;
}

/** All that a signature comes from. */
export interface Attempt {
  readonly request: SignableRequest;
  readonly secret: Secret;
  readonly signer: Signer;
}

/** A mistake, and what it changes of a right signature. */
export interface Suspect extends Mistake {
  readonly change: Partial<Attempt>;
}

/** A signature that was received, and what is known about it. */
export interface ReceivedSignature extends Attempt {
  readonly received: string;
  /** Of the signer; null for a module. */
  readonly recipe: Recipe | null;
  /** Other secrets that it may have been signed with, and what they are called: `the secret of profile "shop"`. */
  readonly otherSecrets: readonly Named<Secret>[];
  /** Other recipes that it may have been signed by, and what they are called: `the preset taobao`. */
  readonly otherRecipes: readonly Named<Recipe>[];
  /** Parameters that were not sent, but may have been signed: optional ones, with their defaults. */
  readonly unsent: readonly Param[];
}

export interface Named<T> {
  readonly name: string;
  readonly value: T;
}
