import { isDeepStrictEqual } from 'node:util';
import { compileRecipe } from '../../signing/compile-recipe.js';
import { algorithms, outputs } from '../../signing/digest-algorithms.js';
import { parseDigest } from '../../signing/digest-steps.js';
import { cases, type TextEncoding, textEncodings } from '../../signing/encodings.js';
import { compileParams } from '../../signing/params.js';
import { presets } from '../../signing/presets.js';
import {
  type KeyRule,
  keyDecodings,
  type Order,
  orders,
  type ParamsRule,
  type Recipe,
  RecipeError,
  recipeDefaults,
} from '../../signing/recipe.js';
import type { SignableRequest } from '../../signing/request.js';
import { parseTemplate } from '../../signing/template.js';
import { entriesOf, withValueAt } from '../recipe-changes.js';
import { type OtherInputs, type ReceivedSignature, type Suspect, suspects } from './suspect.js';

export const namedPresets: OtherInputs['otherRecipes'] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
  preset: name,
}));

/** Mistakes in the rule itself: each is another recipe. A module has none but the other recipes. */
export function recipeSuspects({ recipe, request, otherRecipes }: ReceivedSignature): Suspect[] {
  const others = otherRecipes.flatMap(({ name, value, ...preset }) =>
    kind(
      'other-recipe',
      'If the operator signs like that, take it: "userinfo profile set" has --platform and --signing-preset.',
      [[`by ${name}`, value]],
    ).map((suspect) => ({ ...suspect, ...preset })),
  );
  if (recipe === null) return others;
  return [...variantsOf(recipe), ...messageVariants(recipe), ...blockVariants(recipe, request), ...others];
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
      textEncodings
        .flatMap((other) => [
          at(`with names and values ${encodingWords[other]}`, 'params.encode', other),
          at(`with the whole message ${encodingWords[other]}`, 'encode.message', other),
          at(`with the parameters, as a whole, ${encodingWords[other]}`, 'encode.block', other),
        ])
        .concat([['with nothing encoded', unencoded(recipe)]]),
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

/** Two parameters of a block swapped, and each field of the recipe that nobody minded. */
function blockVariants(recipe: Recipe, { params }: SignableRequest): Suspect[] {
  const { select, added } = compileParams(recipe.params);
  const names = [
    ...new Set(
      select(
        params,
        added.map(({ name }) => [name, ''] as const),
      ).map(([name]) => name),
    ),
  ].slice(0, mostEntries);
  const swapped = names.flatMap((one, from) =>
    names
      .slice(from + 1)
      .map(
        (other, index): Variant => [
          `with the parameters ${one} and ${other} swapped`,
          withValueAt(recipe, 'params.order', names.with(from, other).with(from + 1 + index, one)),
        ],
      ),
  );
  const forgotten = (['params', 'encode'] as const).flatMap((part) =>
    Object.entries(recipeDefaults[part])
      .filter(
        ([field, usual]) =>
          !isDeepStrictEqual(usual, Object.entries(recipe[part]).find(([name]) => name === field)?.[1]),
      )
      .map(
        ([field, usual]): Variant => [
          `as if the recipe did not have ${part}.${field}`,
          withValueAt(recipe, `${part}.${field}`, usual),
        ],
      ),
  );
  return [
    ...kind('forgotten', 'Do what the recipe says there.', forgotten),
    ...kind('swapped', 'Sign the parameters in the order of the recipe.', swapped),
  ];
}

/** The recipe without any percent-encoding. */
function unencoded(recipe: Recipe): Recipe {
  const written = JSON.stringify({
    ...recipe,
    params: { ...recipe.params, encode: 'none' },
    encode: { ...recipe.encode, block: 'none', message: 'none' },
  });
  return JSON.parse(
    written.replace(/(\$(?:\{[^}]*\}|[\w:-]+)[\w.:-]*?)\.(?:rfc3986|form(?:-dotnet)?)\b/g, '$1'),
  );
}

const mostEntries = 64;
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
      'Write the key, each step, and each part that is digested by itself, as the recipe says.',
      innerTexts(recipe).flatMap(([where, texts, put]) =>
        entryVariants(entriesOf({ message: texts, join: '' }).slice(0, mostEntries), '', where)
          .filter(([, , between]) => between === undefined)
          .flatMap(([how, entries]) => put(entries).map((changed): Variant => [how, changed])),
      ),
    ),
    ...kind(
      'step',
      'Take each step that the recipe says: a digest is often digested again.',
      steps.map((step, index) => [
        `without the step ${JSON.stringify(step)}`,
        { ...recipe, steps: steps.toSpliced(index, 1) },
      ]),
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

/** A text of a recipe beside its message, and the recipe with other entries there. */
type InnerText = readonly [
  where: string,
  texts: readonly string[],
  put: (entries: readonly string[]) => readonly Recipe[],
];

/** Those of its key, of its steps and added values, and of its subs and their keys. */
function innerTexts(recipe: Recipe): InnerText[] {
  const { key, sub, steps, params } = recipe;
  const keyText = (where: string, path: string, { tokens, decode }: KeyRule): InnerText => [
    where,
    tokens,
    (entries) =>
      // A key that is not digested is often no longer hex.
      [...new Set([decode, 'utf8'])].map((as) => withValueAt(recipe, path, { tokens: entries, decode: as })),
  ];
  const listText = (where: string, path: string, texts: readonly string[], start?: string): InnerText => [
    where,
    texts,
    (entries) => [withValueAt(recipe, path, start === undefined ? entries : start + entries.join(''))],
  ];
  return [
    keyText('the key', 'key', key),
    ...Object.entries(sub).flatMap(([name, { message, key: own }]) => [
      listText(`the sub ${name}`, `sub.${name}.message`, message),
      ...(own === undefined ? [] : [keyText(`the key of ${name}`, `sub.${name}.key`, own)]),
    ]),
    ...steps.flatMap((step, index) => {
      const [, start, text = ''] = /^((?:append|prepend):)(.*)$/s.exec(step) ?? [];
      return start === undefined ? [] : [listText('a step', `steps.${index}`, [text], start)];
    }),
    ...Object.entries(params.add).map(
      ([name, text]): InnerText => [
        `the added value ${name}`,
        [text],
        (entries) => [withValueAt(recipe, 'params.add', { ...params.add, [name]: entries.join('') })],
      ],
    ),
  ];
}

/** Each entry of the message left out, each two swapped, other tokens for it, other texts between, a line break more. */
function entryVariants(entries: readonly string[], join: string, where = 'the message'): MessageVariant[] {
  const last = entries.length - 1;
  if (last < 0) return [];
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

/** The entry with each token replaced that may be taken for another one, or without one of its changes. */
function replacementsIn(entry: string): (readonly [how: string, entry: string])[] {
  const parts = entriesOf({ message: [entry], join: '' });
  return parts.flatMap((part, index) =>
    [...replacements.filter(([token]) => token === part).map(([, other]) => other), ...lessChanged(part)].map(
      (other) => [
        `with ${entryWords(other)} in the place of ${entryWords(part)}`,
        parts.with(index, other).join(''),
      ],
    ),
  );
}

/** A token without each of its modifiers, and with a digest in base64 of its hex text. */
function lessChanged(text: string): string[] {
  return parseTemplate(text, 'message').tokens.flatMap(({ source, name, modifiers }) => {
    const write = (others: readonly string[]) =>
      [`\${${name === '' ? source : `${source}:${name}`}}`, ...others].join('.');
    return modifiers.flatMap((modifier, index) => [
      write(modifiers.toSpliced(index, 1)),
      ...(modifier.endsWith(':base64')
        ? [write(modifiers.toSpliced(index, 1, modifier.replace(':base64', ''), 'base64'))]
        : []),
    ]);
  });
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
