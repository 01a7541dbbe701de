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
import { entriesOf, withValueAt } from '../recipe-changes.js';
import { type OtherInputs, type ReceivedSignature, type Suspect, suspects } from './suspect.js';

export const namedPresets: OtherInputs['otherRecipes'] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
  preset: name,
}));

/** Mistakes in the rule itself: each is another recipe. A module has none but the other recipes. */
export function recipeSuspects({ recipe, otherRecipes }: ReceivedSignature): Suspect[] {
  const others = otherRecipes.flatMap(({ name, value, ...preset }) =>
    kind(
      'other-recipe',
      'If the operator signs like that, take it: "userinfo profile set" has --platform and --signing-preset.',
      [[`by ${name}`, value]],
    ).map((suspect) => ({ ...suspect, ...preset })),
  );
  return recipe === null ? others : [...variantsOf(recipe), ...messageVariants(recipe), ...others];
}

type Variant = readonly [how: string, recipe: Recipe];

/** Suspects with one remedy, each with another recipe. Not every variant is one that the language takes. */
function kind(id: string, advice: string, variants: readonly Variant[]): Suspect[] {
  return variants.flatMap(([how, recipe]) => {
    try {
      return suspects(id, advice, [[how, { signer: compileRecipe(recipe) }]]);
    } catch (error) {
      if (error instanceof RecipeError) return [];
      throw error;
    }
  });
}

function variantsOf(recipe: Recipe): Suspect[] {
  const { params } = recipe;
  const at = (how: string, path: string, value: unknown): Variant => [how, withValueAt(recipe, path, value)];
  const withParams = (how: string, change: Partial<ParamsRule>) =>
    at(how, 'params', { ...params, ...change });
  const keyedSubs = Object.entries(recipe.sub).filter(([, { key }]) => key !== undefined);
  const included = [params.include, ...(typeof params.order === 'string' ? [] : [params.order])];
  return [
    ...kind(
      'output',
      'Write the digest as the recipe says; HEX is hex in upper case.',
      outputs.map((output) => at(`with the right digest, written as ${output}`, 'output', output)),
    ),
    ...kind(
      'order',
      `Sign them as the recipe says: ${describeOrder(params.order)}.`,
      orders.flatMap((order) =>
        included.map((include) => withParams(`with the parameters ${orderWords[order]}`, { order, include })),
      ),
    ),
    ...kind('empty-value', 'The recipe leaves empty values out: do not sign them, or do not send them.', [
      at('with the parameters that are empty', 'params.empty', 'keep'),
    ]),
    ...kind(
      'encoding',
      'Encode what the recipe says, no more and no less.',
      textEncodings.flatMap((other) => [
        at(`with names and values ${encodingWords[other]}`, 'params.encode', other),
        at(`with the whole message ${encodingWords[other]}`, 'encode.message', other),
        at(`with the parameters, as a whole, ${encodingWords[other]}`, 'encode.block', other),
      ]),
    ),
    ...kind('case', 'Sign names and values in the letter case that the recipe says.', [
      ...cases.map((fold) => at(`with the text in ${caseWords[fold]}`, 'params.case', fold)),
      at(`with the text in ${caseWords.lower}`, 'encode.lower', true),
    ]),
    ...kind('separator', 'Join the parameters as the recipe says.', [
      ...separators.map(([kvSep, pairSep]) =>
        withParams(`with ${separatorWords(kvSep, pairSep)}`, { kvSep, pairSep }),
      ),
      withParams('with the values alone', { names: false, pairSep: '' }),
      at('with the values alone', 'params.names', false),
      ...joiners
        .filter((text) => text !== params.pairSep)
        .flatMap((text): Variant[] => {
          const [how, changed] = at(`with ${joinWords(text)} pairs`, 'params.pairSep', text);
          const whole = { ...changed, join: text };
          return [[how, changed], ...(recipe.join === '' ? [] : [[`${how} and parts`, whole] as const])];
        }),
    ]),
    ...kind(
      'secret-place',
      'Put the secret where the recipe has it.',
      (recipe.message.some((entry) => entry.includes('$secret')) ? messages : []).map((message) =>
        at(
          `as ${message.join('').replace('$params', 'PARAMETERS').replaceAll('$secret', 'SECRET')}`,
          'message',
          message,
        ),
      ),
    ),
    ...kind(
      'digest',
      'Use the digest that the recipe says; hmac takes the secret as its key.',
      stepsLike(recipe).map((steps) => at(`by ${steps.join(', then ')}`, 'steps', steps)),
    ),
    ...kind(
      'key-decoding',
      'Take the key as the recipe says: as it is written, or decoded first.',
      [['the key', 'key'], ...keyedSubs.map(([name]) => [`the key of ${name}`, `sub.${name}.key`])].flatMap(
        ([words, path]) =>
          keyDecodings.map((decode) => at(`with ${words} read as ${decode}`, `${path}.decode`, decode)),
      ),
    ),
  ];
}

const mostEntries = 16;
const joiners = ['', '\n', '&', '|', ':', ',', ' ', '.', '-', '_', ';', '\r\n'];

/** A message in other words, and the text between its entries. */
type MessageVariant = readonly [how: string, entries: readonly string[], join?: string];

function messageVariants(recipe: Recipe): Suspect[] {
  const { message, join, steps } = recipe;
  const parts = entriesOf(recipe);
  const divided = parts.length > message.length ? [message, parts] : [message];
  const digests = steps.filter((step) => parseDigest(step) !== null);
  return [
    ...kind(
      'message',
      'Write the message as the recipe says.',
      divided
        .flatMap((entries) => entryVariants(entries.slice(0, mostEntries), join))
        .map(([how, entries, between = join]) => [how, { ...recipe, message: entries, join: between }]),
    ),
    ...kind(
      'part',
      'Write the key, and each part that is digested by itself, as the recipe says.',
      innerTexts(recipe).flatMap(([where, path, texts]) =>
        entryVariants(entriesOf({ message: texts, join: '' }).slice(0, mostEntries), '', where)
          .filter(([, , between]) => between === undefined)
          .map(([how, entries]) => [how, withValueAt(recipe, path, entries)]),
      ),
    ),
    ...kind(
      'line-end',
      'Digest the text alone: a command that prints a text or a digest adds a line break.',
      steps.flatMap((step, index): Variant[] => {
        const place = index === 0 ? 'the message' : 'a digest that is digested again';
        const lengthened = { ...recipe, steps: steps.toSpliced(index, 0, 'append:\n') };
        return parseDigest(step) === null ? [] : [[`with a line break at the end of ${place}`, lengthened]];
      }),
    ),
    ...kind(
      'label',
      'Add it as the recipe says, such as a label before the digest.',
      digests.length === steps.length
        ? []
        : [['without the text that goes before or behind the digest', { ...recipe, steps: digests }]],
    ),
  ];
}

/** The texts of a recipe beside its message: of its key, and of its subs and their keys. */
function innerTexts({
  key,
  sub,
}: Recipe): (readonly [where: string, path: string, texts: readonly string[]])[] {
  return [
    ['the key', 'key.tokens', key.tokens],
    ...Object.entries(sub).flatMap(([name, { message, key: own }]) => [
      [`the sub ${name}`, `sub.${name}.message`, message] as const,
      ...(own === undefined ? [] : [[`the key of ${name}`, `sub.${name}.key.tokens`, own.tokens] as const]),
    ]),
  ];
}

/** Each entry of the message left out, each two swapped, other tokens for it, other texts between, a line break more. */
function entryVariants(entries: readonly string[], join: string, where = 'the message'): MessageVariant[] {
  const last = entries.length - 1;
  const variants: MessageVariant[] = [
    ...joiners
      .filter((other) => entries.length > 1 && other !== join)
      .map((other): MessageVariant => [`with ${joinWords(other)} the parts of ${where}`, entries, other]),
    [`with a line break at the end of ${where}`, entries.with(last, `${entries[last]}\n`)],
    [`with ${joinWords(join)} the last part and nothing behind it`, [...entries, '']],
  ];
  if (entries[last] === '')
    variants.push([`without the separator at the end of ${where}`, entries.slice(0, -1)]);
  for (const [index, entry] of entries.entries()) {
    variants.push([`without ${entryWords(entry)} in ${where}`, entries.toSpliced(index, 1)]);
    if (entry !== '')
      variants.push([`with nothing in the place of ${entryWords(entry)}`, entries.with(index, '')]);
    for (const [how, changed] of replacementsIn(entry)) variants.push([how, entries.with(index, changed)]);
  }
  for (const [from, one] of entries.entries())
    for (const [to, other] of entries.entries())
      if (from < to)
        variants.push([
          `with ${entryWords(one)} and ${entryWords(other)} swapped`,
          entries.with(from, other).with(to, one),
        ]);
  return variants;
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

/** The entry with each token replaced that may be taken for another one. */
function replacementsIn(entry: string): (readonly [how: string, entry: string])[] {
  const parts = entriesOf({ message: [entry], join: '' });
  return parts.flatMap((part, index) =>
    replacements
      .filter(([token]) => token === part)
      .map(([token, other]) => [
        `with ${entryWords(other)} in the place of ${entryWords(token)}`,
        parts.with(index, other).join(''),
      ]),
  );
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

function separatorWords(kvSep: string, pairSep: string): string {
  if (kvSep + pairSep === '') return 'names and values glued together';
  return `${JSON.stringify(kvSep)} between name and value, ${JSON.stringify(pairSep)} between pairs`;
}

const messages: readonly (readonly string[])[] = [
  ['$params', '$secret'],
  ['$secret', '$params'],
  ['$secret', '$params', '$secret'],
  ...['key', 'secret', 'app_secret', 'appSecret', 'appsecret', 'app_key', 'secretKey', 'secret_key'].map(
    (name) => ['$params', `&${name}=`, '$secret'],
  ),
  ['$params'],
];

function stepsLike({ steps }: Recipe): string[][] {
  return steps.flatMap((step, index) => {
    if (parseDigest(step) === null) return [];
    const [, ...format] = step.split(':');
    const others = algorithms.flatMap((other) => [other, `hmac-${other}`]);
    return others.map((other) => steps.with(index, [other, ...format].join(':')));
  });
}
