import { compileRecipe } from '../../core/signing/compile-recipe.js';
import { type Recipe, unlessRefused } from '../../core/signing/recipe.js';
import type { Param, SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import type { Signer } from '../../core/signing/signer.js';

/** What comes along when a text is copied: invisible characters, and quotes around it. */
export const pasted = /\p{Cf}|^["'“‘`]|["'”’`]$/gu;

/** A mistake that explains a wrong signature. */
export interface Mistake {
  /** Stable, for programs: `secret-space`. */
  readonly id: string;
  /** What happened, as a sentence: `It was signed with an empty secret.` */
  readonly says: string;
  /** What to do, as a sentence. */
  readonly advice: string;
  /** The preset by which it was signed instead. */
  readonly preset?: string;
}

/** What a signature is made of. */
export interface SignatureInputs {
  readonly request: SignableRequest;
  readonly secret: Secret;
  readonly signer: Signer;
}

/** A possible mistake, and the inputs that it puts in place of the right ones. */
export interface Suspect extends Mistake {
  readonly change: Partial<SignatureInputs>;
}

/** What completes the sentence "It was signed …", and the inputs by which it was. */
export type SuspectRow = readonly [how: string, change: Suspect['change']];

/** Suspects with one remedy. */
export function suspects(id: string, advice: string, rows: readonly SuspectRow[]): Suspect[] {
  return rows.map(([how, change]) => ({ id, says: `It was signed ${how}.`, advice, change }));
}

/** What completes the sentence "It was signed …", and the recipe by which it was. */
export type Variant = readonly [how: string, recipe: Recipe];

/**
 * Suspects with one remedy, each with another recipe. Not every variant is one that the language
 * takes.
 */
export function suspectsByRecipe(
  id: string,
  advice: string,
  variants: readonly Variant[],
): Suspect[] {
  return variants.flatMap(([how, recipe]) => {
    const signer = unlessRefused(() => compileRecipe(recipe));
    if (signer === null) return [];
    return suspects(id, advice, [[how, { signer }]]);
  });
}

/** Texts that are usual between pairs, or between the entries of a message. */
export const joiners = ['', '\n', '&', '|', ':', ',', ' ', '.', '-', '_', ';', '\r\n'];

/** Inputs that a wrong signature may have been made with, besides the right ones. */
export interface OtherInputs {
  /** With their names: `the secret of profile "shop"`. */
  readonly otherSecrets: readonly Named<Secret>[];
  /** With their names: `the preset taobao`. */
  readonly otherRecipes: readonly (Named<Recipe> & Pick<Mistake, 'preset'>)[];
  /** Parameters that were not sent but may have been signed: optional ones, with their defaults. */
  readonly unsent: readonly Param[];
}

export interface Named<T> {
  readonly name: string;
  readonly value: T;
}

/** A received signature and its context. */
export interface ReceivedSignature extends SignatureInputs, OtherInputs {
  readonly received: string;
  /** The recipe of the signer; null for a module. */
  readonly recipe: Recipe | null;
}
