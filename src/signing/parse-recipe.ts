import { outputs } from './digests.js';
import { blockEncodings, textEncodings } from './encodings.js';
import { cases } from './letter-case.js';
import {
  fields,
  nullOr,
  oneOf,
  type Parse,
  parseFlag,
  parseText,
  parseTextMap,
  parseTexts,
} from './parse-json.js';
import {
  type EncodeRule,
  emptyRules,
  type KeyRule,
  keyDecodings,
  orders,
  type ParamsRule,
  type Recipe,
  recipeDefaults,
  type SigningRecipes,
  type SubRule,
} from './recipe.js';
import { compileRecipe } from './sign.js';

const parseOrder: Parse<ParamsRule['order']> = (value, field) =>
  Array.isArray(value) ? parseTexts(value, field) : oneOf(orders)(value, field);

const parseParams = fields<ParamsRule>(
  {
    exclude: parseTexts,
    include: nullOr(parseTexts),
    empty: oneOf(emptyRules),
    joinRepeated: nullOr(parseText),
    order: parseOrder,
    names: parseFlag,
    values: parseFlag,
    kvSep: parseText,
    pairSep: parseText,
    pairEnd: parseText,
    escape: parseTextMap,
    encode: oneOf(textEncodings),
    case: oneOf(cases),
    nameCase: oneOf(cases),
    secretAs: nullOr(parseText),
  },
  recipeDefaults.params,
);

const parseEncode = fields<EncodeRule>(
  { block: oneOf(blockEncodings), message: oneOf(textEncodings), lower: parseFlag },
  recipeDefaults.encode,
);

const parseKey = fields<KeyRule>({ tokens: parseTexts, decode: oneOf(keyDecodings) }, recipeDefaults.key);

const parseFields = fields<Recipe>(
  {
    params: parseParams,
    message: parseTexts,
    join: parseText,
    basePath: parseText,
    encode: parseEncode,
    sub: nullOr(fields<SubRule>({ message: parseTexts, steps: parseTexts })),
    steps: parseTexts,
    key: parseKey,
    output: oneOf(outputs),
  },
  recipeDefaults,
);

/**
 * Takes foreign JSON as a recipe, the defaults filled in. `field` is where it stands, for the errors.
 *
 * @throws RecipeError that names the first field, token or step that is wrong
 */
export function parseRecipe(json: unknown, field = ''): Recipe {
  const recipe = parseFields(json, field);
  compileRecipe(recipe, field);
  return recipe;
}

const parsePair = fields<SigningRecipes>({ app_sign: parseRecipe, sign: parseRecipe });

/**
 * Takes foreign JSON as the two recipes of an app.
 *
 * @throws RecipeError that names the first field, token or step that is wrong, such as `sign.params.order`
 */
export function parseSigningRecipes(json: unknown): SigningRecipes {
  return parsePair(json, '');
}
