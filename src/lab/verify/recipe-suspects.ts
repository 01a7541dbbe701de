import { algorithms, outputs } from '../../core/signing/digest-algorithms.js';
import { parseDigest } from '../../core/signing/digest-steps.js';
import { encoders, textEncodings } from '../../core/signing/encodings.js';
import { compileParams, type ParamsFormat } from '../../core/signing/params.js';
import { presets } from '../../core/signing/presets.js';
import {
  keyDecodings,
  type Order,
  orders,
  type ParamsPlace,
  type ParamsRule,
  paramsPlaces,
  type Recipe,
  recipeDefaults,
} from '../../core/signing/recipe.js';
import { formatRecipe } from '../../core/signing/recipe-json.js';
import { partsOf } from '../../core/signing/recipe-parts.js';
import { signerOf } from '../../core/signing/recipe-signer.js';
import type { SignableRequest } from '../../core/signing/request.js';
import type { Signer } from '../../core/signing/signer.js';
import { bytesIn, charsets } from './charsets.js';
import {
  encodedBy,
  encodingWords,
  type LibraryEncoder,
  libraryEncoders,
} from './library-encoders.js';
import { swapsOf, withModifier, withSeparator, withValueAt } from './recipe-changes.js';
import { type OtherInputs, type ReceivedSignature, type Suspect, suspects } from './suspect.js';
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
    ...charsetSuspects(recipe),
    ...variantsOf(recipe),
    ...messageVariants(recipe),
    ...blockVariants(recipe, request),
    ...others,
  ];
}

/** The right text, digested as bytes of another charset. */
function charsetSuspects(recipe: Recipe): Suspect[] {
  const parts = partsOf(recipe);
  return charsets.flatMap((charset) =>
    suspects(
      'charset',
      'Make the bytes of the text, and its percent-encoding, in UTF-8: name the charset there, such as getBytes(UTF_8).',
      [
        [
          `with the text as bytes of ${charset.name} in place of UTF-8`,
          { signer: signerOf(parts, (message) => bytesIn(charset, message)) },
        ],
      ],
    ),
  );
}

function variantsOf(recipe: Recipe): Suspect[] {
  const { params, key, message } = recipe;
  const at = (how: string, path: string, value: unknown): Variant => [
    how,
    withValueAt(recipe, path, value),
  ];
  const withParams = (how: string, change: Partial<ParamsRule>) =>
    at(how, 'params', { ...params, ...change });
  const { order } = params;
  const included = [params.include, ...(typeof order === 'string' ? [] : [order])];
  return [
    ...kind(
      'output',
      'Write the digest as the recipe says; HEX is hex in upper case.',
      outputs.map((output) => at(`with the right digest, written as ${output}`, 'output', output)),
    ),
    ...kind(
      'place',
      `Sign the parameters of the place that the recipe says: ${placeWords[params.from]}.`,
      // Those of the query alone are another request.
      paramsPlaces
        .filter((from) => from !== 'query')
        .map((from) => withParams(`with the parameters ${placeWords[from]}`, { from })),
    ),
    ...kind('order', `Sign them as the recipe says: ${describeOrder(order)}.`, [
      ...orders.flatMap((other) =>
        included.map((include) =>
          withParams(`with the parameters ${orderWords[other]}`, { order: other, include }),
        ),
      ),
      ...(typeof order === 'string'
        ? []
        : [withParams('with the parameters in the reverse order', { order: order.toReversed() })]),
    ]),
    ...kind(
      'empty-value',
      'The recipe leaves empty values out: do not sign them, or do not send them.',
      [at('with the parameters that are empty', 'params.empty', 'keep')],
    ),
    ...kind('encoding', 'Encode what the recipe says, no more and no less.', [
      ...textEncodings
        .filter((other) => other !== params.encode)
        .map((other) =>
          withParams(`with names and values ${encodingWords[other]}`, { encode: other }),
        ),
      ...textEncodings.flatMap((other): Variant[] => [
        [`with the whole message ${encodingWords[other]}`, withModifier(recipe, other)],
        [
          `with the parameters, as a whole, ${encodingWords[other]}`,
          withModifier(recipe, other, 'params'),
        ],
      ]),
      ['with nothing encoded', unencoded(recipe)],
    ]),
    ...suspects('encoding', 'Encode what the recipe says, no more and no less.', [
      ...libraryEncoders.map(
        (encoder) =>
          [
            `with names and values ${encoder.how}`,
            { signer: signerWriting(recipe, encodingWriter(params, encoder)) },
          ] as const,
      ),
      ...encodedTwice(recipe),
    ]),
    ...kind('case', 'Sign names and values in the letter case that the recipe says.', [
      ...(['lower', 'upper'] as const).flatMap((fold): Variant[] => [
        [`with the parameters in ${fold} case`, withModifier(recipe, fold, 'params')],
        [`with the whole text in ${fold} case`, withModifier(recipe, fold)],
      ]),
    ]),
    ...kind('separator', 'Join the parameters as the recipe says.', [
      ...separators.map(([kvSep, pairSep]) =>
        withParams(`with ${separatorWords(kvSep, pairSep)}`, {
          names: true,
          kvSep,
          pairSep,
        }),
      ),
      withParams('with the values alone', { names: false, pairSep: '' }),
      withParams('with the values alone, and what is between them', { names: false }),
      ...joinerVariants(recipe),
    ]),
    ...suspects('separator', 'Join the parameters as the recipe says.', writtenOtherwise(recipe)),
    ...kind(
      'secret-place',
      'Put the secret where the recipe has it.',
      secretPlaces(recipe).map((other) =>
        at(
          `as ${other.join('').replace('$params', 'PARAMETERS').replaceAll('$secret', 'SECRET')}`,
          'message',
          [...messageHead(recipe), ...other],
        ),
      ),
    ),
    ...kind(
      'secret-place',
      'Put the secret where the recipe has it.',
      secretPlaces(recipe).length === 0
        ? []
        : secretNames.map((name): Variant => {
            const add = { ...params.add, [name]: '$secret' };
            const alone = [...messageHead(recipe), '$params'];
            const sorted = { ...recipe, message: alone, params: { ...params, add } };
            return [`with the secret among the parameters, as ${name}`, sorted];
          }),
    ),
    ...kind('digest', 'Use the digest that the recipe says; hmac takes the secret as its key.', [
      ...keyedInstead(recipe),
      ...stepsLike(recipe).map((steps) => at(`by ${steps.join(', then ')}`, 'steps', steps)),
      [
        'with the message as the key, and the key as the message',
        { ...recipe, message: key.tokens, key: { tokens: message, decode: 'utf8' }, join: '' },
      ],
    ]),
    ...kind(
      'key-decoding',
      'Take the key as the recipe says: as it is written, or decoded first.',
      keyDecodings.map((decode) => at(`with the key read as ${decode}`, 'key.decode', decode)),
    ),
  ];
}

function secretPlaces({ message }: Recipe): typeof messages {
  return message.some((entry) => entry.includes('$secret')) ? messages : [];
}

/** A keyed digest of the parameters, where the recipe has the secret in the text. */
function keyedInstead(recipe: Recipe): Variant[] {
  const [first, ...rest] = recipe.steps;
  if (first === undefined || secretPlaces(recipe).length === 0) return [];
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
      const changed = withValueAt(recipe, 'params.pairSep', text);
      const inside = withSeparator(message, params.pairSep, text);
      const whole = join === '' ? inside && { message: inside } : { join: text };
      const both: Variant[] = whole ? [[`${how} and parts`, { ...changed, ...whole }]] : [];
      return [[how, changed], ...both];
    });
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
  const forgotten = Object.entries(recipeDefaults.params).flatMap(([field, usual]): Variant[] => {
    if (!Object.hasOwn(said.params ?? {}, field)) return [];
    const how = `as if the recipe did not have params.${field}`;
    return [[how, withValueAt(recipe, `params.${field}`, usual)]];
  });
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
  return typeof order === 'string' ? orderWords[order] : `${order.join(', ')}, and no others`;
}

/** A signer that writes the parameters as no recipe says. */
function signerWriting(recipe: Recipe, write: ParamsFormat['write']): Signer {
  const parts = partsOf(recipe);
  return signerOf({ ...parts, params: { ...parts.params, write } });
}

function encodingWriter(params: ParamsRule, encoder: LibraryEncoder): ParamsFormat['write'] {
  return compileParams(params, 'params', (text) => encodedBy(encoder, text)).write;
}

/** Where a rule encodes the parameters once more, a signer calls the same function there, too. */
function encodedTwice(recipe: Recipe): Parameters<typeof suspects>[2] {
  const { params } = recipe;
  const again = new RegExp(`(\\$(?:params|\\{params\\}))\\.${params.encode}\\b`);
  if (!recipe.message.some((entry) => again.test(entry))) return [];
  const once = { ...recipe, message: recipe.message.map((entry) => entry.replace(again, '$1')) };
  const all = textEncodings.map((like) => ({ how: encodingWords[like], like, writes: {} }));
  return [...all, ...libraryEncoders].map((encoder) => {
    const write = encodingWriter(params, encoder);
    const apply = (text: string) => encodedBy(encoder, text);
    const signer = signerWriting(once, (signed, renderer) =>
      renderer.change(write(signed, renderer), { apply, local: true }),
    );
    return [`with names and values, and then all of them, ${encoder.how}`, { signer }];
  });
}

/** The names alone, another sorting, and a separator too many: no recipe says these. */
function writtenOtherwise(recipe: Recipe): Parameters<typeof suspects>[2] {
  const { params } = recipe;
  const { write } = compileParams(params);
  const encode = encoders[params.encode];
  const namesBy = (separator: string) =>
    signerWriting(recipe, (signed, renderer) =>
      renderer.showable(signed.map(([name]) => encode(name)).join(separator)),
    );
  const trailing = signerWriting(
    recipe,
    (signed, renderer) => write(signed, renderer) + renderer.showable(params.pairSep),
  );
  const byLowerName = signerWriting(recipe, (signed, renderer) => {
    const lower = signed.map((param) => [param[0].toLowerCase(), param] as const);
    const sorted = lower.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
    return write(
      sorted.map(([, param]) => param),
      renderer,
    );
  });
  const behind = JSON.stringify(params.pairSep);
  return [
    ['with the parameters sorted by name, upper and lower case alike', { signer: byLowerName }],
    ['with the names alone', { signer: namesBy('') }],
    ['with the names alone, and what is between them', { signer: namesBy(params.pairSep) }],
    [`with ${behind} behind the last pair, too`, { signer: trailing }],
  ];
}

const placeWords: Readonly<Record<ParamsPlace, string>> = {
  both: 'of the query and of the form',
  query: 'of the query alone',
  form: 'of the form alone',
  'form-or-query': 'of the form, or of the query where there is no form',
};

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
    'KEY',
  ].map((name) => ['$params', `&${name}=`, '$secret']),
  ['$params', '&', '$secret'],
  ['$params'],
];

/** Names of the secret among the sorted parameters. */
const secretNames = ['key', 'secret', 'app_secret', 'appSecret', 'secretKey', 'secret_key'];

function stepsLike({ steps }: Recipe): string[][] {
  return steps.flatMap((step, index) => {
    if (parseDigest(step) === null) return [];
    const [, ...format] = step.split(':');
    const others = algorithms.flatMap((other) => [other, `hmac-${other}`]);
    const twice = steps.toSpliced(index, 0, step);
    const inUpperCase = index < steps.length - 1 ? [steps.with(index, `${step}:HEX`)] : [];
    return [
      ...others.map((other) => steps.with(index, [other, ...format].join(':'))),
      twice,
      ...inUpperCase,
    ];
  });
}
