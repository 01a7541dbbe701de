import { compileRecipe } from '../../signing/compile-recipe.js';
import { algorithms, outputs } from '../../signing/digest-algorithms.js';
import { parseDigest } from '../../signing/digest-steps.js';
import { cases, type TextEncoding, textEncodings } from '../../signing/encodings.js';
import { presets } from '../../signing/presets.js';
import {
  keyDecodings,
  type Order,
  orders,
  type ParamsRule,
  type Recipe,
  RecipeError,
} from '../../signing/recipe.js';
import type { OtherInputs, ReceivedSignature, Suspect } from './suspect.js';

export const namedPresets: OtherInputs['otherRecipes'] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
  preset: name,
}));

/** Mistakes in the rule itself: each is another recipe. A module has none but the other recipes. */
export function recipeSuspects({ recipe, otherRecipes }: ReceivedSignature): Suspect[] {
  return [
    ...(recipe === null ? [] : [...variantsOf(recipe), ...messageVariants(recipe)]),
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
    ...orders
      .flatMap((order) =>
        [params.include, ...(typeof params.order === 'string' ? [] : [params.order])].map((include) =>
          withParams(
            { order, include },
            'order',
            `It was signed with the parameters ${orderWords[order]}.`,
            `Sign them as the recipe says: ${describeOrder(params.order)}.`,
          ),
        ),
      )
      .flat(),
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
    ...textEncodings.map((block) =>
      variant(
        { ...recipe, encode: { ...recipe.encode, block } },
        'encoding',
        `It was signed with the parameters, as a whole, ${encodingWords[block]}.`,
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

/** The most entries of a message that are changed. */
const mostEntries = 16;
const joiners = ['', '\n', '&', '|', ':', ',', ' ', '.', '-', '_', ';', '\r\n'];

/** Each entry of the message left out, each two swapped, other tokens for it, other texts between, a line break more. */
function messageVariants(recipe: Recipe): Suspect[] {
  const entries = entriesOf(recipe).slice(0, mostEntries);
  const withMessage = (message: readonly string[], says: string, join = recipe.join) =>
    message.length === 0
      ? []
      : variant(
          { ...recipe, message, join },
          'message',
          `It was signed ${says}.`,
          'Write the message as the recipe says.',
        );
  const last = entries.length - 1;
  return [
    ...joiners.map((join) =>
      entries.length < 2 || join === recipe.join
        ? []
        : withMessage(entries, `with ${joinWords(join)} the parts of the message`, join),
    ),
    withMessage(entries.with(last, `${entries[last]}\n`), 'with a line break at the end of the message'),
    withMessage([...entries, ''], `with ${joinWords(recipe.join)} the last part and nothing behind it`),
    ...(entries[last] === ''
      ? [withMessage(entries.slice(0, -1), 'without the separator at the end of the message')]
      : []),
    ...entries.flatMap((entry, index) => [
      withMessage(entries.toSpliced(index, 1), `without ${entryWords(entry)} in the message`),
      ...(entry === ''
        ? []
        : [withMessage(entries.with(index, ''), `with nothing in the place of ${entryWords(entry)}`)]),
      ...replacements
        .filter(([token]) => entry.includes(token))
        .map(([token, other]) =>
          withMessage(
            entries.with(
              index,
              entry.replace(token, () => other),
            ),
            `with ${entryWords(other)} in the place of ${entryWords(token)}`,
          ),
        ),
    ]),
    ...entries.flatMap((one, from) =>
      entries
        .slice(from + 1)
        .map((other, index) =>
          withMessage(
            entries.with(from, other).with(from + 1 + index, one),
            `with ${entryWords(one)} and ${entryWords(other)} swapped`,
          ),
        ),
    ),
    ...(recipe.steps.length > 1 && recipe.steps.some((step) => parseDigest(step) === null)
      ? variant(
          { ...recipe, steps: recipe.steps.filter((step) => parseDigest(step) !== null) },
          'label',
          'It was signed without the text that goes before or behind the digest.',
          'Add it as the recipe says, such as a label before the digest.',
        ).map((suspect) => [suspect])
      : []),
  ].flat();
}

/** Tokens that are taken one for the other. */
const replacements = [
  ['$path', '$path$search'],
  ['$path', '$url'],
  ['$url', '$path'],
  ['$search', ''],
  ['$query', '$params'],
  ['$params', '$query'],
  ['$body', '$body.md5'],
  ['$body', '$body.sha256'],
  ['$body.sha256', '$body'],
  ['$body.sha512', '$body'],
  ['$body.md5', '$body'],
] as const;

/** The entries of a message; where no text joins them, each token and each text by itself. */
function entriesOf({ message, join }: Recipe): string[] {
  if (join !== '') return [...message];
  return message.flatMap((entry) => entry.match(/\$\{[^}]*\}[\w.:]*|\$\$|\$[\w.:-]+|[^$]+/g) ?? []);
}

function entryWords(entry: string): string {
  return entry === '' ? 'the empty part' : JSON.stringify(entry);
}

function joinWords(join: string): string {
  return join === '' ? 'nothing between' : `${JSON.stringify(join)} between`;
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
