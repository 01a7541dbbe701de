import { algorithms, outputs } from '../../core/signing/digest-algorithms.js';
import { parseDigest } from '../../core/signing/digest-steps.js';
import { cases, type TextEncoding, textEncodings } from '../../core/signing/encodings.js';
import { compileParams } from '../../core/signing/params.js';
import { presets } from '../../core/signing/presets.js';
import {
  keyDecodings,
  type Order,
  orders,
  type ParamsRule,
  type Recipe,
  recipeDefaults,
} from '../../core/signing/recipe.js';
import { formatRecipe } from '../../core/signing/recipe-json.js';
import type { SignableRequest } from '../../core/signing/request.js';
import { swapsOf, withSeparator, withValueAt } from './recipe-changes.js';
import type { OtherInputs, ReceivedSignature, Suspect } from './suspect.js';
import {
  joiners,
  joinWords,
  kind,
  maxEntries,
  messageVariants,
  type Variant,
} from './text-suspects.js';

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
  return [
    ...variantsOf(recipe),
    ...messageVariants(recipe),
    ...blockVariants(recipe, request),
    ...others,
  ];
}

function variantsOf(recipe: Recipe): Suspect[] {
  const { params } = recipe;
  const at = (how: string, path: string, value: unknown): Variant => [
    how,
    withValueAt(recipe, path, value),
  ];
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
        included.map((include) =>
          withParams(`with the parameters ${orderWords[order]}`, { order, include }),
        ),
      ),
    ),
    ...kind(
      'empty-value',
      'The recipe leaves empty values out: do not sign them, or do not send them.',
      [at('with the parameters that are empty', 'params.empty', 'keep')],
    ),
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
      ...joiners
        .filter((text) => text !== params.pairSep)
        .flatMap((text): Variant[] => {
          const [how, changed] = at(`with ${joinWords(text)} pairs`, 'params.pairSep', text);
          const inside = withSeparator(recipe.message, params.pairSep, text);
          const whole = recipe.join !== '' ? { join: text } : inside && { message: inside };
          return [
            [how, changed],
            ...(whole ? [[`${how} and parts`, { ...changed, ...whole }] as const] : []),
          ];
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
      [
        ['the key', 'key'],
        ...keyedSubs.map(([name]) => [`the key of ${name}`, `sub.${name}.key`]),
      ].flatMap(([words, path]) =>
        keyDecodings.map((decode) =>
          at(`with ${words} read as ${decode}`, `${path}.decode`, decode),
        ),
      ),
    ),
  ];
}

/** Two parameters of a block swapped, and each field of the recipe that nobody minded. */
function blockVariants(recipe: Recipe, { params }: SignableRequest): Suspect[] {
  const { select, added } = compileParams(recipe.params);
  const signed = select(
    params,
    added.map(({ name }) => [name, ''] as const),
  );
  const names = [...new Set(signed.map(([name]) => name))].slice(0, maxEntries);
  const swapped = swapsOf(names).map(
    ([one, other, order]): Variant => [
      `with the parameters ${one} and ${other} swapped`,
      withValueAt(recipe, 'params.order', order),
    ],
  );
  const said = formatRecipe(recipe);
  const forgotten = (['params', 'encode'] as const).flatMap((part) =>
    Object.entries(recipeDefaults[part]).flatMap(([field, usual]): Variant[] =>
      Object.hasOwn(said[part] ?? {}, field)
        ? [
            [
              `as if the recipe did not have ${part}.${field}`,
              withValueAt(recipe, `${part}.${field}`, usual),
            ],
          ]
        : [],
    ),
  );
  return [
    ...kind('forgotten', 'Do what the recipe says there.', forgotten),
    ...kind('swapped', 'Sign the parameters in the order of the recipe.', swapped),
  ];
}

/** The recipe without any percent-encoding, and what it replaces in encoded texts. */
function unencoded(recipe: Recipe): Recipe {
  const written = JSON.stringify({
    ...recipe,
    params: {
      ...recipe.params,
      encode: 'none',
      ...(recipe.params.encode !== 'none' && { escape: {} }),
    },
    encode: { ...recipe.encode, block: 'none', message: 'none' },
  });
  return JSON.parse(
    written.replace(
      /(\$(?:\{[^}]*\}|[\w:-]+)[\w.:-]*?)\.(?:rfc3986|javascript|form(?:-\w+)?)\b/g,
      '$1',
    ),
  );
}

export const orderWords: Readonly<Record<Order, string>> = {
  name: 'sorted by name',
  'name-desc': 'sorted by name, from back to front',
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
  'form-php': 'form-encoded as by PHP (a space as +, * as %2A)',
  'form-python': 'form-encoded as by Python (a space as +, ~ as it is)',
  'form-dotnet': 'form-encoded (a space as +, escapes in lower case)',
  rfc3986: 'percent-encoded (a space as %20)',
  javascript: "percent-encoded as by encodeURIComponent (!*()' as they are)",
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
  ...[
    'key',
    'secret',
    'app_secret',
    'appSecret',
    'appsecret',
    'app_key',
    'secretKey',
    'secret_key',
  ].map((name) => ['$params', `&${name}=`, '$secret']),
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
