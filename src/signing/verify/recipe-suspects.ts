import { compileRecipe } from '../compile-recipe.js';
import { algorithms, outputs } from '../digest-algorithms.js';
import { parseDigest } from '../digest-steps.js';
import { cases, type TextEncoding, textEncodings } from '../encodings.js';
import { presets } from '../presets.js';
import { keyDecodings, type Order, orders, type ParamsRule, type Recipe, RecipeError } from '../recipe.js';
import type { OtherInputs, ReceivedSignature, Suspect } from './suspect.js';

export const namedPresets: OtherInputs['otherRecipes'] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
  preset: name,
}));

/** Mistakes in the rule itself: each is another recipe. A module has none but the other recipes. */
export function recipeSuspects({ recipe, otherRecipes }: ReceivedSignature): Suspect[] {
  return [
    ...(recipe === null ? [] : variantsOf(recipe)),
    ...otherRecipes.flatMap(({ name, value, ...preset }) =>
      variant(
        value,
        'other-recipe',
        `It was signed by ${name}.`,
        'If the operator signs like that, take it: "userinfo profile set" has --platform and --signing-preset.',
      ).map((suspect) => ({ ...suspect, ...preset })),
    ),
  ];
}

type MistakeWords = readonly [id: string, says: string, advice: string];

/** Not every variant is a recipe. */
function variant(recipe: Recipe, ...[id, says, advice]: MistakeWords): Suspect[] {
  try {
    return [{ id, says, advice, change: { signer: compileRecipe(recipe) } }];
  } catch (error) {
    if (error instanceof RecipeError) return [];
    throw error;
  }
}

function variantsOf(recipe: Recipe): Suspect[] {
  const { params } = recipe;
  const withParams = (change: Partial<ParamsRule>, ...mistake: MistakeWords) =>
    variant({ ...recipe, params: { ...params, ...change } }, ...mistake);
  return [
    ...outputs.map((output) =>
      variant(
        { ...recipe, output },
        'output',
        `It is the right digest, written as ${output}.`,
        'Write the digest as the recipe says; HEX is hex in upper case.',
      ),
    ),
    ...orders.map((order) =>
      withParams(
        { order },
        'order',
        `It was signed with the parameters ${orderWords[order]}.`,
        `Sign them as the recipe says: ${describeOrder(params.order)}.`,
      ),
    ),
    withParams(
      { empty: 'keep' },
      'empty-value',
      'It was signed with the parameters that are empty.',
      'The recipe leaves empty values out: do not sign them, or do not send them.',
    ),
    ...textEncodings.map((encode) =>
      withParams(
        { encode },
        'encoding',
        `It was signed with names and values ${encodingWords[encode]}.`,
        `Sign them ${encodingWords[params.encode]}.`,
      ),
    ),
    ...textEncodings.map((message) =>
      variant(
        { ...recipe, encode: { ...recipe.encode, message } },
        'encoding',
        'It was signed with the whole message encoded another way.',
        'Encode what the recipe says, no more and no less.',
      ),
    ),
    ...cases.map((fold) => withParams({ case: fold }, ...caseMistake(caseWords[fold]))),
    variant({ ...recipe, encode: { ...recipe.encode, lower: true } }, ...caseMistake(caseWords.lower)),
    ...separators.map(([kvSep, pairSep]) =>
      withParams({ kvSep, pairSep }, ...separatorMistake(kvSep, pairSep)),
    ),
    withParams({ names: false, pairSep: '' }, ...valuesMistake),
    withParams({ names: false }, ...valuesMistake),
    ...messages.map((message) =>
      variant(
        { ...recipe, message },
        'secret-place',
        `It was signed as ${message.join('').replace('$params', 'PARAMETERS').replaceAll('$secret', 'SECRET')}.`,
        'Put the secret where the recipe has it.',
      ),
    ),
    ...stepsLike(recipe).map((steps) =>
      variant(
        { ...recipe, steps },
        'digest',
        `It was signed by ${steps.join(', then ')}.`,
        'Use the digest that the recipe says; hmac takes the secret as its key.',
      ),
    ),
    ...keyDecodings.map((decode) =>
      variant(
        { ...recipe, key: { ...recipe.key, decode } },
        'key-decoding',
        `It was signed with the key read as ${decode}.`,
        'Take the key as the recipe says: as it is written, or decoded first.',
      ),
    ),
  ].flat();
}

export const orderWords: Readonly<Record<Order, string>> = {
  name: 'sorted by name',
  'name-nocase': 'sorted by name, upper and lower case alike',
  value: 'sorted by value',
  pair: 'sorted by name and value together',
  'pair-nocase': 'sorted by name and value together, upper and lower case alike',
  sent: 'in the order in which they were sent',
};

function describeOrder(order: ParamsRule['order']): string {
  return typeof order === 'string' ? orderWords[order] : `${order.join(', ')}, and no others`;
}

const encodingWords: Readonly<Record<TextEncoding, string>> = {
  none: 'not encoded',
  form: 'form-encoded (a space as +)',
  'form-dotnet': 'form-encoded (a space as +, escapes in lower case)',
  rfc3986: 'percent-encoded (a space as %20)',
};

const caseWords = { none: 'its own letter case', lower: 'lower case', upper: 'upper case' };

function caseMistake(words: string): MistakeWords {
  return [
    'case',
    `It was signed with the text in ${words}.`,
    'Sign names and values in the letter case that the recipe says.',
  ];
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

function separatorMistake(kvSep: string, pairSep: string): MistakeWords {
  const words =
    kvSep + pairSep === ''
      ? 'names and values glued together'
      : `${JSON.stringify(kvSep)} between name and value, ${JSON.stringify(pairSep)} between pairs`;
  return ['separator', `It was signed with ${words}.`, 'Join the parameters as the recipe says.'];
}

const valuesMistake: MistakeWords = [
  'separator',
  'It was signed with the values alone.',
  'Sign name and value of each parameter.',
];

const messages: readonly (readonly string[])[] = [
  ['$params', '$secret'],
  ['$secret', '$params'],
  ['$secret', '$params', '$secret'],
  ...['key', 'secret', 'app_secret', 'appSecret', 'appsecret', 'app_key', 'secretKey', 'secret_key'].map(
    (name) => ['$params', `&${name}=`, '$secret'],
  ),
  ['$params'],
];

/** The steps with one digest algorithm replaced by another. */
function stepsLike({ steps }: Recipe): string[][] {
  return steps.flatMap((step, index) => {
    if (parseDigest(step) === null) return [];
    const format = step.includes(':') ? step.slice(step.indexOf(':')) : '';
    const others = algorithms.flatMap((other) => [other + format, `hmac-${other}${format}`]);
    return others.map((other) => steps.with(index, other));
  });
}
