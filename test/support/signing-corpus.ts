import { readFileSync } from 'node:fs';
import type { RecipeJson } from '../../src/core/signing/recipe.js';
import type { SignableRequest } from '../../src/core/signing/request.js';

/**
 * A documented rule of a public platform, as a recipe, with its worked example. The stages were
 * computed apart from this code, and the digest is the published one where `published` says so.
 */
export interface Vector {
  readonly name: string;
  readonly platform: string;
  readonly source: string;
  readonly published: boolean;
  readonly recipe: RecipeJson;
  readonly request: SignableRequest;
  readonly secret: string;
  readonly params: string;
  readonly message: string;
  readonly digest: string;
}

const file = new URL('../vectors/signing-corpus.json', import.meta.url);

export const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(file, 'utf8'),
);
