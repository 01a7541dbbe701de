import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../support/json.js';
import { outputs } from './digest-algorithms.js';
import { textEncodings } from './encodings.js';
import {
  checkLimit,
  emptyRules,
  fieldPath,
  type KeyRule,
  keyDecodings,
  nameCases,
  orders,
  type ParamsRule,
  paramsSources,
  type Recipe,
  RecipeError,
  type RecipeJson,
  recipeDefaults,
  type SigningRecipes,
} from './recipe.js';
import { parseRecipeParts } from './recipe-parts.js';

/**
 * Checks a value of untrusted JSON.
 *
 * @throws RecipeError that names the field
 */
export type Parse<T> = (value: unknown, field: string) => T;

/** Accepts any text. */
export const parseText: Parse<string> = (value, field) => {
  if (typeof value === 'string') return value;
  throw new RecipeError(field, 'must be a text');
};

const parseFlag: Parse<boolean> = (value, field) => {
  if (typeof value === 'boolean') return value;
  throw new RecipeError(field, 'must be true or false');
};

/** Accepts null besides what `parse` accepts. */
export function nullOr<T>(parse: Parse<T>): Parse<T | null> {
  return (value, field) => {
    if (value === null) return null;
    return parse(value, field);
  };
}

/** Accepts a list of what `parse` accepts. */
export function listOf<T>(parse: Parse<T>): Parse<readonly T[]> {
  return (value, field) => {
    if (Array.isArray(value)) return value.map((item, index) => parse(item, `${field}[${index}]`));
    throw new RecipeError(field, 'must be a list');
  };
}

/** A list of texts that has no more than the limit. */
function texts(limit: 'entries' | 'names'): Parse<readonly string[]> {
  return (value, field) => {
    if (Array.isArray(value)) checkLimit(value.length, limit, field, limit);
    return listOf(parseText)(value, field);
  };
}

const parseEntries = texts('entries');
const parseNames = texts('names');

const parseNamed: Parse<Readonly<Record<string, string>>> = (value, field) => {
  checkLimit(Object.keys(parseObject(value, field)).length, 'names', field, 'names');
  const entries = Object.entries(parseObject(value, field));
  return Object.fromEntries(
    entries.map(([name, item]) => [name, parseText(item, fieldPath(field, name))]),
  );
};

/** Accepts a list of two texts: a name and a value. */
export const parsePair: Parse<readonly [string, string]> = (value, field) => {
  if (!Array.isArray(value) || value.length !== 2)
    throw new RecipeError(field, 'must be [name, value]');
  return [parseText(value[0], `${field}[0]`), parseText(value[1], `${field}[1]`)];
};

function oneOf<T extends string>(allowed: readonly T[]): Parse<T> {
  return (value, field) => {
    const choice = allowed.find((text) => text === value);
    if (choice !== undefined) return choice;
    throw new RecipeError(
      field,
      `cannot be ${JSON.stringify(value)}`,
      `It is one of ${allowed.join(', ')}.`,
    );
  };
}

/** An object with these fields and no others. A field with a default is optional. */
export function fields<T extends object>(
  parsers: { readonly [K in keyof T]-?: Parse<T[K]> },
  defaults: Partial<NoInfer<T>> = {},
): Parse<T> {
  const names = Object.keys(parsers) as (keyof T & string)[];
  return (value, field) => {
    const object = parseObject(value, field);
    const unknown = Object.keys(object).find((name) => !Object.hasOwn(parsers, name));
    if (unknown !== undefined) {
      throw new RecipeError(
        fieldPath(field, unknown),
        'unknown field',
        `The fields here are ${names.join(', ')}.`,
      );
    }
    const parseField = (name: keyof T & string) => {
      if (Object.hasOwn(object, name)) return parsers[name](object[name], fieldPath(field, name));
      if (Object.hasOwn(defaults, name)) return defaults[name];
      throw new RecipeError(fieldPath(field, name), 'is missing');
    };
    return Object.fromEntries(names.map((name) => [name, parseField(name)])) as T;
  };
}

/**
 * Accepts an object with any fields.
 *
 * @throws RecipeError for anything else
 */
export function parseObject(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new RecipeError(shownPath(field), 'must be an object');
}

/** The path of a field in a message: the outermost one has no name of its own. */
function shownPath(field: string): string {
  return field === '' ? 'recipe' : field;
}

const parseOrder: Parse<ParamsRule['order']> = (value, field) => {
  if (Array.isArray(value)) return parseNames(value, field);
  return oneOf(orders)(value, field);
};

const parseParams = fields<ParamsRule>(
  {
    from: oneOf(paramsSources),
    exclude: parseNames,
    include: nullOr(parseNames),
    empty: oneOf(emptyRules),
    order: parseOrder,
    names: parseFlag,
    kvSep: parseText,
    pairSep: parseText,
    encode: oneOf(textEncodings),
    nameCase: oneOf(nameCases),
    add: parseNamed,
  },
  recipeDefaults.params,
);

const parseKey = fields<KeyRule>(
  { tokens: parseEntries, decode: oneOf(keyDecodings) },
  recipeDefaults.key,
);

const parseFields = fields<Recipe>(
  {
    params: parseParams,
    message: parseEntries,
    join: parseText,
    steps: parseEntries,
    key: parseKey,
    output: oneOf(outputs),
  },
  recipeDefaults,
);

/**
 * Counts the characters of the texts and names in a recipe, and each other value as one: what is
 * too large is refused before it is looked at. Half of a character has no bytes to sign.
 */
function checkTexts(json: unknown, field: string): void {
  let count = 0;
  const uncounted = [json];
  while (uncounted.length > 0) {
    const value = uncounted.pop();
    const isText = typeof value === 'string';
    count += isText ? value.length : 1;
    checkLimit(count, 'characters', shownPath(field), 'characters');
    if (isText && !value.isWellFormed()) {
      const problem = 'has a text with half of a character, an unpaired surrogate';
      throw new RecipeError(shownPath(field), problem);
    }
    if (Array.isArray(value)) for (const item of value) uncounted.push(item);
    else if (isObject(value)) for (const part of Object.entries(value).flat()) uncounted.push(part);
  }
}

/**
 * Checks the fields and the size of a recipe in untrusted JSON, and fills in the defaults.
 *
 * @throws RecipeError that names the first wrong field
 */
export function readRecipe(json: unknown, field: string): Recipe {
  checkTexts(json, field);
  return parseFields(json, field);
}

/**
 * Checks a recipe in untrusted JSON, and fills in the defaults. `field` is its path, for error
 * messages.
 *
 * @throws RecipeError that names the first wrong field, token or step
 */
export function parseRecipe(json: unknown, field = ''): Recipe {
  return parseRecipeParts(readRecipe(json, field), field).recipe;
}

const parseRecipePair = fields<SigningRecipes>({ app_sign: parseRecipe, sign: parseRecipe });

/**
 * Checks untrusted JSON as the two recipes of an app.
 *
 * @throws RecipeError that names the first wrong field, token or step, such as `sign.params.order`
 */
export function parseSigningRecipes(json: unknown): SigningRecipes {
  return parseRecipePair(json, '');
}

/** The short form of a recipe, for people and files: without the default values. */
export function formatRecipe(recipe: Recipe): RecipeJson {
  return omitDefaults(recipe, recipeDefaults) as RecipeJson;
}

function omitDefaults(fields: object, defaults: object): object {
  const defaultOf = new Map<string, unknown>(Object.entries(defaults));
  const changed = Object.entries(fields).filter(
    ([name, value]) => !isDeepStrictEqual(value, defaultOf.get(name)),
  );
  return Object.fromEntries(
    changed.map(([name, value]) => [name, shorten(value, defaultOf.get(name))]),
  );
}

function shorten(value: unknown, defaultValue: unknown): unknown {
  if (!isObject(value) || !isObject(defaultValue)) return value;
  return omitDefaults(value, defaultValue);
}
