import { compileRecipe } from '../compile-recipe.js';
import { algorithms, outputs } from '../digests.js';
import { cases, type Case as LetterCase, textEncodings } from '../encodings.js';
import { presets } from '../presets.js';
import { keyDecodings, type Order, orders, type ParamsRule, type Recipe } from '../recipe.js';
import { RecipeError } from '../recipe-error.js';
import type { Mistake, Named, ReceivedSignature, Suspect } from './suspect.js';

/** Mistakes in the rule itself: each is another recipe. A module has none. */
export function recipeSuspects({ recipe, otherRecipes }: ReceivedSignature): Suspect[] {
  const others = otherRecipes.map(({ name, value }) => variant(value, otherRecipeMistake(name)));
  if (recipe === null) return others.flat();
  const { params } = recipe;
  const withParams = (change: Partial<ParamsRule>, mistake: Mistake) =>
    variant({ ...recipe, params: { ...params, ...change } }, mistake);
  return [
    ...outputs.map((output) => variant({ ...recipe, output }, outputMistake(output))),
    ...orders.map((order) => withParams({ order }, orderMistake(order, params.order))),
    withParams({ empty: 'keep' }, emptyMistake),
    ...textEncodings.map((encode) => withParams({ encode }, encodingMistake(params.encode, encode))),
    ...textEncodings.map((message) =>
      variant({ ...recipe, encode: { ...recipe.encode, message } }, wholeEncodingMistake),
    ),
    ...cases.map((fold) => withParams({ case: fold }, caseMistake(fold))),
    variant({ ...recipe, encode: { ...recipe.encode, lower: true } }, caseMistake('lower')),
    ...separators.map(([kvSep, pairSep]) => withParams({ kvSep, pairSep }, separatorMistake(kvSep, pairSep))),
    withParams({ names: false, pairSep: '' }, valuesMistake),
    withParams({ names: false }, valuesMistake),
    ...messages.map((message) => variant({ ...recipe, message }, secretPlaceMistake(message))),
    ...stepsLike(recipe).map((steps) => variant({ ...recipe, steps }, stepsMistake(steps))),
    ...keyDecodings.map((decode) =>
      variant({ ...recipe, key: { ...recipe.key, decode } }, keyMistake(decode)),
    ),
    ...others,
  ].flat();
}

/** Not every variant is a recipe. */
function variant(recipe: Recipe, mistake: Mistake): Suspect[] {
  try {
    return [{ ...mistake, change: { signer: compileRecipe(recipe) } }];
  } catch (error) {
    if (error instanceof RecipeError) return [];
    throw error;
  }
}

function otherRecipeMistake(name: string): Mistake {
  return {
    id: 'other-recipe',
    says: `It was signed by ${name}.`,
    advice:
      'If the operator signs like that, take it: "userinfo profile set" has --signing and --signing-preset.',
  };
}

function outputMistake(output: string): Mistake {
  return {
    id: 'output',
    says: `It is the right digest, written as ${output}.`,
    advice: 'Write the digest as the recipe says; HEX is hex in upper case.',
  };
}

const orderWords: Readonly<Record<Order, string>> = {
  name: 'sorted by name',
  'name-nocase': 'sorted by name, upper and lower case alike',
  value: 'sorted by value',
  pair: 'sorted by name and value together',
  'pair-nocase': 'sorted by name and value together, upper and lower case alike',
  sent: 'in the order in which they were sent',
};

function orderMistake(order: Order, ours: ParamsRule['order']): Mistake {
  const right = typeof ours === 'string' ? orderWords[ours] : `${ours.join(', ')}, and no others`;
  return {
    id: 'order',
    says: `It was signed with the parameters ${orderWords[order]}.`,
    advice: `Sign them as the recipe says: ${right}.`,
  };
}

const emptyMistake: Mistake = {
  id: 'empty-value',
  says: 'It was signed with the parameters that are empty.',
  advice: 'The recipe leaves empty values out: do not sign them, or do not send them.',
};

const encodingWords: Readonly<Record<string, string>> = {
  none: 'not encoded',
  form: 'form-encoded (a space as +)',
  'form-dotnet': 'form-encoded (a space as +, escapes in lower case)',
  rfc3986: 'percent-encoded (a space as %20)',
};

function encodingMistake(ours: string, theirs: string): Mistake {
  return {
    id: 'encoding',
    says: `It was signed with names and values ${encodingWords[theirs]}.`,
    advice: `Sign them ${encodingWords[ours]}.`,
  };
}

const wholeEncodingMistake: Mistake = {
  id: 'encoding',
  says: 'It was signed with the whole message encoded another way.',
  advice: 'Encode what the recipe says, no more and no less.',
};

function caseMistake(fold: LetterCase): Mistake {
  const words = { none: 'its own letter case', lower: 'lower case', upper: 'upper case' };
  return {
    id: 'case',
    says: `It was signed with the text in ${words[fold]}.`,
    advice: 'Sign names and values in the letter case that the recipe says.',
  };
}

const separators = [
  ['', ''],
  ['=', '&'],
  ['=', ''],
  ['', '&'],
  [':', ','],
  [':', '&'],
  ['=', ','],
  ['=', '|'],
] as const;

function separatorMistake(kvSep: string, pairSep: string): Mistake {
  const glued = kvSep === '' && pairSep === '';
  return {
    id: 'separator',
    says: glued
      ? 'It was signed with names and values glued together.'
      : `It was signed with ${JSON.stringify(kvSep)} between name and value, ${JSON.stringify(pairSep)} between pairs.`,
    advice: 'Join the parameters as the recipe says.',
  };
}

const valuesMistake: Mistake = {
  id: 'separator',
  says: 'It was signed with the values alone.',
  advice: 'Sign name and value of each parameter.',
};

const messages: readonly (readonly string[])[] = [
  ['$params', '$secret'],
  ['$secret', '$params'],
  ['$secret', '$params', '$secret'],
  ...['key', 'secret', 'app_secret', 'appSecret', 'appsecret', 'app_key', 'secretKey', 'secret_key'].map(
    (name) => ['$params', `&${name}=`, '$secret'],
  ),
  ['$params'],
];

function secretPlaceMistake(message: readonly string[]): Mistake {
  const shown = message.map((part) =>
    part === '$params' ? 'PARAMETERS' : part === '$secret' ? 'SECRET' : part,
  );
  return {
    id: 'secret-place',
    says: `It was signed as ${shown.join('')}.`,
    advice: 'Put the secret where the recipe has it.',
  };
}

/** The same steps with one digest algorithm replaced by another. */
function stepsLike({ steps }: Recipe): string[][] {
  return steps.flatMap((step, index) => {
    const [, algorithm, format = ''] = /^(?:hmac-)?(md5|sha1|sha256|sha512)(:\w+)?$/.exec(step) ?? [];
    if (algorithm === undefined) return [];
    const others = algorithms.flatMap((other) => [other + format, `hmac-${other}${format}`]);
    return others.map((other) => steps.with(index, other));
  });
}

function stepsMistake(steps: readonly string[]): Mistake {
  return {
    id: 'digest',
    says: `It was signed by ${steps.join(', then ')}.`,
    advice: 'Use the digest that the recipe says; hmac takes the secret as its key.',
  };
}

function keyMistake(decode: string): Mistake {
  return {
    id: 'key-decoding',
    says: `It was signed with the key read as ${decode}.`,
    advice: 'Take the key as the recipe says: as it is written, or decoded first.',
  };
}

/** The presets, as other possible recipes of a request. */
export const namedPresets: readonly Named<Recipe>[] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
}));
