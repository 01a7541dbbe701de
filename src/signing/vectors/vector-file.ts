import type { Recipe, RecipeJson, SigningRecipes } from '../recipe.js';
import {
  listOf,
  nullOr,
  type Parse,
  parseObject,
  parsePair,
  parseRecipe,
  parseSigningRecipes,
  parseText,
  parseTextMap,
} from '../recipe-json.js';
import type { SignableRequest } from '../request.js';

/** In order of computation. */
export const stageNames = ['params', 'message', 'digest'] as const;
export type StageName = (typeof stageNames)[number];

/** The stages of one signature; an implementation may leave some out. */
export type Stages = Readonly<Partial<Record<StageName, string>>>;

/** A request and its signatures, by the parameter that carries each. */
export interface Vector {
  readonly name: string;
  /** Absent where a returned file omits it. */
  readonly request?: SignableRequest;
  readonly signatures: Readonly<Record<string, Stages>>;
}

export interface MadeVector extends Vector {
  /** What it tests, in one sentence. */
  readonly why: string;
  readonly request: SignableRequest;
}

/** Test vectors as given to another team. */
export interface VectorFile {
  readonly about: string;
  /** Absent where a module signs. */
  readonly recipe?: RecipeJson;
  readonly recipes?: { readonly app_sign: RecipeJson; readonly sign: RecipeJson };
  /** Made for these vectors; no service accepts it. */
  readonly secret: string;
  readonly vectors: readonly MadeVector[];
}

/** Test vectors as returned; unknown fields are ignored. */
export interface ReturnedVectors {
  readonly recipes: Recipe | SigningRecipes | null;
  /** Null where the file omits it. */
  readonly secret: string | null;
  readonly vectors: readonly Vector[];
}

/**
 * Checks untrusted JSON as returned vectors.
 *
 * @throws RecipeError that names the wrong field
 */
export function parseVectors(json: unknown): ReturnedVectors {
  const { recipe, recipes, secret, vectors } = parseObject(json, 'vectors file');
  return {
    recipes: recipe ? parseRecipe(recipe, 'recipe') : recipes ? parseSigningRecipes(recipes) : null,
    secret: secret === undefined ? null : parseText(secret, 'secret'),
    vectors: listOf(parseVector)(vectors, 'vectors'),
  };
}

const parseVector: Parse<Vector> = (json, field) => {
  const { name, request, signatures } = parseObject(json, field);
  const stages = Object.entries(parseObject(signatures, `${field}.signatures`));
  return {
    name: parseText(name, `${field}.name`),
    ...(request !== undefined && { request: parseRequest(request, `${field}.request`) }),
    signatures: Object.fromEntries(
      stages.map(([signature, given]) => [signature, parseStages(given, `${field}.signatures.${signature}`)]),
    ),
  };
};

const parseStages: Parse<Stages> = (json, field) => {
  const given = parseObject(json, field);
  const told = stageNames.filter((stage) => given[stage] !== undefined && given[stage] !== null);
  return Object.fromEntries(told.map((stage) => [stage, parseText(given[stage], `${field}.${stage}`)]));
};

const parseRequest: Parse<SignableRequest> = (json, field) => {
  const { method, url, params, body = null, extra = {} } = parseObject(json, field);
  return {
    method: parseText(method, `${field}.method`),
    url: parseText(url, `${field}.url`),
    params: listOf(parsePair)(params, `${field}.params`),
    body: nullOr(parseText)(body, `${field}.body`),
    extra: parseTextMap(extra, `${field}.extra`),
  };
};
