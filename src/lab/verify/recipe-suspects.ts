import { algorithms, outputs } from '../../core/signing/digest-algorithms.js';
import { parseDigest } from '../../core/signing/digest-steps.js';
import { textEncodings } from '../../core/signing/encodings.js';
import { compileParams } from '../../core/signing/params.js';
import { presets } from '../../core/signing/presets.js';
import {
  keyDecodings,
  type Order,
  orders,
  type ParamsRule,
  type ParamsSource,
  paramsSources,
  type Recipe,
  recipeDefaults,
} from '../../core/signing/recipe.js';
import { formatRecipe } from '../../core/signing/recipe-json.js';
import type { SignableRequest } from '../../core/signing/request.js';
import { encodingWords } from './library-encoders.js';
import { joinWords, maxEntries, messageVariants } from './message-suspects.js';
import { swapsOf, withModifier, withSeparator, withValueAt } from './recipe-changes.js';
import {
  charsetSuspects,
  encodedByLibraries,
  encodedTwice,
  writtenOtherwise,
} from './signer-suspects.js';
import {
  joiners,
  type OtherInputs,
  type ReceivedSignature,
  type Suspect,
  suspects,
  suspectsByRecipe,
  type Variant,
} from './suspect.js';

export const namedPresets: OtherInputs['otherRecipes'] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
  preset: name,
}));

/**
 * Mistakes in the rule itself: each is another recipe, or one that no recipe describes. A module
 * has none but the other recipes.
 */
export function recipeSuspects({ recipe, request, otherRecipes }: ReceivedSignature): Suspect[] {
  const others = otherRecipes.flatMap(({ name, value, ...preset }) =>
    suspectsByRecipe(
      'other-recipe',
      'If the operator signs like that, take it: ' +
        '"userinfo profile set" has --platform and --signing-preset.',
      [[`by ${name}`, value]],
    ).map((suspect) => ({ ...suspect, ...preset })),
  );
  if (recipe === null) return others;
  return [
    ...charsetSuspects(recipe),
    ...fieldVariants(recipe),
    ...messageVariants(recipe),
    ...blockVariants(recipe, request),
    ...others,
  ];
}

/** Mistakes in one field of the recipe, or in a few that belong together. */
function fieldVariants(recipe: Recipe): Suspect[] {
  return [
    ...outputVariants(recipe),
    ...placeVariants(recipe),
    ...orderVariants(recipe),
    ...emptyValueVariants(recipe),
    ...encodingVariants(recipe),
    ...caseVariants(recipe),
    ...separatorVariants(recipe),
    ...secretPlaceVariants(recipe),
    ...digestVariants(recipe),
    ...keyDecodingVariants(recipe),
  ];
}

function withParams(recipe: Recipe, change: Partial<ParamsRule>): Recipe {
  return { ...recipe, params: { ...recipe.params, ...change } };
}

function outputVariants(recipe: Recipe): Suspect[] {
  return suspectsByRecipe(
    'output',
    'Write the digest as the recipe says; HEX is hex in upper case.',
    outputs.map((output) => [`with the right digest, written as ${output}`, { ...recipe, output }]),
  );
}

function placeVariants(recipe: Recipe): Suspect[] {
  // Those of the query alone are another request.
  const sources = paramsSources.filter((from) => from !== 'query');
  return suspectsByRecipe(
    'place',
    `Sign the parameters of the place that the recipe says: ${sourceWords[recipe.params.from]}.`,
    sources.map((from) => [
      `with the parameters ${sourceWords[from]}`,
      withParams(recipe, { from }),
    ]),
  );
}

function orderVariants(recipe: Recipe): Suspect[] {
  const { order, include } = recipe.params;
  const isListed = typeof order !== 'string';
  // A list says which parameters are signed, too: those alone, or all, may have been sorted.
  const included = isListed ? [include, order] : [include];
  const sorted = orders.flatMap((sorting) =>
    included.map(
      (names): Variant => [
        `with the parameters ${orderWords[sorting]}`,
        withParams(recipe, { order: sorting, include: names }),
      ],
    ),
  );
  const advice = `Sign them as the recipe says: ${describeOrder(order)}.`;
  if (!isListed) return suspectsByRecipe('order', advice, sorted);
  return suspectsByRecipe('order', advice, [
    ...sorted,
    ['with the parameters in the reverse order', withParams(recipe, { order: order.toReversed() })],
  ]);
}

function emptyValueVariants(recipe: Recipe): Suspect[] {
  return suspectsByRecipe(
    'empty-value',
    'The recipe leaves empty values out: do not sign them, or do not send them.',
    [['with the parameters that are empty', withParams(recipe, { empty: 'keep' })]],
  );
}

function encodingVariants(recipe: Recipe): Suspect[] {
  const { params } = recipe;
  const advice = 'Encode what the recipe says, no more and no less.';
  const usualEncodings = textEncodings
    .filter((encode) => encode !== params.encode)
    .map(
      (encode): Variant => [
        `with names and values ${encodingWords[encode]}`,
        withParams(recipe, { encode }),
      ],
    );
  const encodedWholes = textEncodings.flatMap((encoding): Variant[] => [
    [`with the whole message ${encodingWords[encoding]}`, withModifier(recipe, encoding)],
    [
      `with the parameters, as a whole, ${encodingWords[encoding]}`,
      withModifier(recipe, encoding, 'params'),
    ],
  ]);
  return [
    ...suspectsByRecipe('encoding', advice, [
      ...usualEncodings,
      ...encodedWholes,
      ['with nothing encoded', unencoded(recipe)],
    ]),
    ...suspects('encoding', advice, [...encodedByLibraries(recipe), ...encodedTwice(recipe)]),
  ];
}

function caseVariants(recipe: Recipe): Suspect[] {
  return suspectsByRecipe(
    'case',
    'Sign names and values in the letter case that the recipe says.',
    [
      ['with the parameters in lower case', withModifier(recipe, 'lower', 'params')],
      ['with the whole text in lower case', withModifier(recipe, 'lower')],
      ['with the parameters in upper case', withModifier(recipe, 'upper', 'params')],
      ['with the whole text in upper case', withModifier(recipe, 'upper')],
    ],
  );
}

function separatorVariants(recipe: Recipe): Suspect[] {
  const advice = 'Join the parameters as the recipe says.';
  const usualSeparators = separators.map(
    ({ kvSep, pairSep }): Variant => [
      `with ${separatorWords(kvSep, pairSep)}`,
      withParams(recipe, { names: true, kvSep, pairSep }),
    ],
  );
  return [
    ...suspectsByRecipe('separator', advice, [
      ...usualSeparators,
      ['with the values alone', withParams(recipe, { names: false, pairSep: '' })],
      ['with the values alone, and what is between them', withParams(recipe, { names: false })],
      ...joinerVariants(recipe),
    ]),
    ...suspects('separator', advice, writtenOtherwise(recipe)),
  ];
}

/**
 * The secret elsewhere in the message, or among the parameters. None for a recipe whose message is
 * without it.
 */
function secretPlaceVariants(recipe: Recipe): Suspect[] {
  if (!hasSecretInMessage(recipe)) return [];
  const { params } = recipe;
  const head = messageHead(recipe);
  const inMessage = messages.map(
    (entries): Variant => [
      `as ${messageWords(entries)}`,
      { ...recipe, message: [...head, ...entries] },
    ],
  );
  const amongParams = secretNames.map((name): Variant => {
    const add = { ...params.add, [name]: '$secret' };
    return [
      `with the secret among the parameters, as ${name}`,
      { ...withParams(recipe, { add }), message: [...head, '$params'] },
    ];
  });
  return suspectsByRecipe('secret-place', 'Put the secret where the recipe has it.', [
    ...inMessage,
    ...amongParams,
  ]);
}

/** `PARAMETERS&key=SECRET`. */
function messageWords(entries: readonly string[]): string {
  return entries.join('').replace('$params', 'PARAMETERS').replaceAll('$secret', 'SECRET');
}

function digestVariants(recipe: Recipe): Suspect[] {
  const { key, message } = recipe;
  return suspectsByRecipe(
    'digest',
    'Use the digest that the recipe says; hmac takes the secret as its key.',
    [
      ...keyedInstead(recipe),
      ...stepsLike(recipe).map(
        (steps): Variant => [`by ${steps.join(', then ')}`, { ...recipe, steps }],
      ),
      [
        'with the message as the key, and the key as the message',
        { ...recipe, message: key.tokens, key: { tokens: message, decode: 'utf8' }, join: '' },
      ],
    ],
  );
}

function keyDecodingVariants(recipe: Recipe): Suspect[] {
  const { key } = recipe;
  return suspectsByRecipe(
    'key-decoding',
    'Take the key as the recipe says: as it is written, or decoded first.',
    keyDecodings.map((decode) => [
      `with the key read as ${decode}`,
      { ...recipe, key: { ...key, decode } },
    ]),
  );
}

function hasSecretInMessage({ message }: Recipe): boolean {
  return message.some((entry) => entry.includes('$secret'));
}

/** A keyed digest of the parameters, where the recipe has the secret in the text. */
function keyedInstead(recipe: Recipe): Variant[] {
  const [first, ...rest] = recipe.steps;
  if (first === undefined || !hasSecretInMessage(recipe)) return [];
  const message = [...messageHead(recipe), '$params'];
  return algorithms.map((name) => [
    `by hmac-${name} of the parameters alone`,
    { ...recipe, message, steps: [`hmac-${name}`, ...rest] },
  ]);
}

/** What is before the parameters and the secret, such as the method. */
function messageHead({ message }: Recipe): readonly string[] {
  const start = message.findIndex((entry) => /\$(?:params|secret)/.test(entry));
  return message.slice(0, Math.max(0, start));
}

/** Another text between the pairs, and perhaps between the parts of the message, too. */
function joinerVariants(recipe: Recipe): Variant[] {
  const { params, message, join } = recipe;
  return joiners
    .filter((text) => text !== params.pairSep)
    .flatMap((text): Variant[] => {
      const how = `with ${joinWords(text)} pairs`;
      const changed = withParams(recipe, { pairSep: text });
      if (join !== '')
        return [
          [how, changed],
          [`${how} and parts`, { ...changed, join: text }],
        ];
      const inside = withSeparator(message, params.pairSep, text);
      if (inside === null) return [[how, changed]];
      return [
        [how, changed],
        [`${how} and parts`, { ...changed, message: inside }],
      ];
    });
}

/** Two parameters swapped, and each params field ignored. */
function blockVariants(recipe: Recipe, { params }: SignableRequest): Suspect[] {
  const { select, added } = compileParams(recipe.params);
  const signed = select(
    params,
    added.map(({ name }) => ({ name, value: '' })),
  );
  const names = [...new Set(signed.map(({ name }) => name))].slice(0, maxEntries);
  const swapped = swapsOf(names).map(
    ({ first, second, swapped: order }): Variant => [
      `with the parameters ${first} and ${second} swapped`,
      withParams(recipe, { order }),
    ],
  );
  const said = formatRecipe(recipe);
  const forgotten = Object.entries(recipeDefaults.params).flatMap(([field, usual]): Variant[] => {
    if (!Object.hasOwn(said.params ?? {}, field)) return [];
    const how = `as if the recipe did not have params.${field}`;
    return [[how, withValueAt(recipe, `params.${field}`, usual)]];
  });
  return [
    ...suspectsByRecipe('forgotten', 'Do what the recipe says there.', forgotten),
    ...suspectsByRecipe('swapped', 'Sign the parameters in the order of the recipe.', swapped),
  ];
}

/** The recipe without any percent-encoding. */
function unencoded(recipe: Recipe): Recipe {
  const written = JSON.stringify({
    ...recipe,
    params: { ...recipe.params, encode: 'none' },
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
  value: 'sorted by value',
  sent: 'in the order in which they were sent',
};

function describeOrder(order: ParamsRule['order']): string {
  if (typeof order === 'string') return orderWords[order];
  return `${order.join(', ')}, and no others`;
}

const sourceWords: Readonly<Record<ParamsSource, string>> = {
  both: 'of the query and of the form',
  query: 'of the query alone',
  form: 'of the form alone',
  'form-or-query': 'of the form, or of the query where there is no form',
};

const separators = [
  { kvSep: '', pairSep: '' },
  { kvSep: '=', pairSep: '&' },
  { kvSep: '=', pairSep: '' },
  { kvSep: '', pairSep: '&' },
  { kvSep: ':', pairSep: ',' },
  { kvSep: ':', pairSep: '&' },
  { kvSep: '=', pairSep: ',' },
  { kvSep: '=', pairSep: '|' },
];

function separatorWords(kvSep: string, pairSep: string): string {
  if (kvSep + pairSep === '') return 'names and values glued together';
  const betweenNameAndValue = JSON.stringify(kvSep);
  const betweenPairs = JSON.stringify(pairSep);
  return `${betweenNameAndValue} between name and value, ${betweenPairs} between pairs`;
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
    'KEY',
  ].map((name) => ['$params', `&${name}=`, '$secret']),
  ['$params', '&', '$secret'],
  ['$params'],
];

/** Names of the secret among the sorted parameters. */
const secretNames = ['key', 'secret', 'app_secret', 'appSecret', 'secretKey', 'secret_key'];

/** The steps with another digest in place of one, one twice, or one whose hex is in upper case. */
function stepsLike({ steps }: Recipe): string[][] {
  return steps.flatMap((step, index) => {
    if (parseDigest(step) === null) return [];
    const [, ...format] = step.split(':');
    const digests = algorithms.flatMap((name) => [name, `hmac-${name}`]);
    const variants = digests.map((digest) => steps.with(index, [digest, ...format].join(':')));
    const twice = steps.toSpliced(index, 0, step);
    variants.push(twice);
    const isLast = index === steps.length - 1;
    if (!isLast) variants.push(steps.with(index, `${step}:HEX`));
    return variants;
  });
}
