import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { encoders, textEncodings } from '../../../src/core/signing/encodings.js';
import { defaultRecipes, findPreset, presets } from '../../../src/core/signing/presets.js';
import {
  completeRecipe,
  type KeyDecoding,
  orders,
  type Recipe,
  type RecipeJson,
} from '../../../src/core/signing/recipe.js';
import type { Param } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { compareMessages } from '../../../src/lab/verify/compare-messages.js';
import { withValueAt } from '../../../src/lab/verify/recipe-changes.js';
import type { ReceivedSignature } from '../../../src/lab/verify/suspect.js';
import { sentencesOf } from '../../../src/lab/verify/verify-signature.js';
import { requestOf } from '../../support/signing-requests.js';
import { verifySignature } from '../../support/verify-signature.js';

const secretText = 'Th3-s3cret-of-the-app';
const userInfo = '{"name":"张三/李四","age":28,"b":"x y"}';
const params: readonly Param[] = [
  ['tenant_code', 'acme'],
  ['app_key', 'app-0815'],
  ['channel', 'web'],
  ['random', 'Zm9vYmFy'],
  ['timestamp', '1700000000'],
  ['note', 'a b+c'],
  ['info_name', ''],
  ['user_info', userInfo],
];
const url = 'http://api.example.com:8080/v1/users';
const request = requestOf(params, { method: 'PUT', url, body: 'user_info=x' });

/** What `sign verify` knows of a request, but for the signature. */
function caseOf(
  recipe: Recipe,
  rest: Partial<ReceivedSignature> = {},
): Omit<ReceivedSignature, 'received'> {
  return {
    request,
    secret: new Secret(secretText),
    signer: compileRecipe(recipe),
    recipe,
    otherSecrets: [],
    otherRecipes: [],
    unsent: [],
    ...rest,
  };
}

const right = defaultRecipes.sign;

/** How a request was really signed: as by `right`, but for what is given. */
interface Made {
  readonly recipe?: Partial<RecipeJson>;
  readonly params?: readonly Param[];
  readonly secret?: string;
}

/** The ids of the mistakes that are found in a request signed like that. */
function idsFor(made: Made, rest: Partial<ReceivedSignature> = {}): string[] | undefined {
  const recipe = completeRecipe({ ...right, ...made.recipe });
  const signed = { ...request, params: made.params ?? params };
  const { digest } = compileRecipe(recipe).sign(signed, new Secret(made.secret ?? secretText));
  const { findings } = verifySignature({ ...caseOf(right, rest), received: digest });
  return findings[0]?.map(({ id }) => id);
}

function withValue(name: string, value: string): Param[] {
  return params.map(([known, old]) => [known, known === name ? value : old]);
}

const drop = { empty: 'drop' } as const;
const milliseconds = withValue('timestamp', '1700000000000');

const mistakes: [string, Made, string[]][] = [
  ['with the app key as the secret', { secret: 'app-0815' }, ['app-key-as-secret']],
  ['with the secret of another profile', { secret: 'another' }, ['other-secret']],
  ['with empty values', { recipe: { params: { empty: 'keep' } } }, ['empty-value']],
  ['with what was not sent', { params: [...params, ['scope', 'get_user_info']] }, ['not-sent']],
  ['in lower case', { recipe: { message: ['$params.lower', '&key=', '$secret'] } }, ['case']],
  [
    'with names and values glued',
    { recipe: { params: { ...drop, kvSep: '', pairSep: '' } } },
    ['separator'],
  ],
  [
    'with another name of the secret',
    { recipe: { message: ['$params', '&secret=$secret'] } },
    ['secret-place'],
  ],
  ['by HMAC', { recipe: { steps: ['hmac-sha256'] } }, ['digest']],
  ['into base64', { recipe: { output: 'base64' } }, ['output']],
  ['into half of the digest', { recipe: { steps: ['md5', 'slice:8:24'] } }, ['signature-length']],
  ['by another preset', { recipe: findPreset('taobao')?.recipe ?? {} }, ['other-recipe']],
  [
    'with milliseconds and a space after the secret',
    { params: milliseconds, secret: `${secretText} ` },
    ['secret-space', 'time-unit'],
  ],
  [
    'with milliseconds and in another order',
    { params: milliseconds, recipe: { params: { ...drop, order: 'value' } } },
    ['time-unit', 'order'],
  ],
];

test('seven characters of the digest are no part of it that is named', () => {
  const part = (to: number) => idsFor({ recipe: { steps: ['md5', `slice:0:${to}`] } }) ?? [];
  expect([part(7).includes('signature-length'), part(8)]).toEqual([false, ['signature-length']]);
});

test.each(mistakes)('a request that was signed %s gives that mistake away', (_, made, ids) => {
  const known = {
    otherSecrets: [{ name: 'the secret of profile "x"', value: new Secret('another') }],
    otherRecipes: presets.map(({ name, recipe }) => ({
      name: `the preset ${name}`,
      value: recipe,
    })),
    unsent: [['scope', 'get_user_info']] as const,
  };
  expect(idsFor(made, known)).toEqual(ids);
});

describe('the reported cause of a wrong signature is', () => {
  const keyed = completeRecipe({ ...right, steps: ['hmac-sha256'], output: 'base64' });
  const address = completeRecipe({ ...right, message: ['$method', '$url', '$params', '$secret'] });
  const at = (changed: Partial<typeof request>) => ({ ...request, ...changed });
  const findingOf = (wrong: Omit<ReceivedSignature, 'received'>, received: string) =>
    verifySignature({ ...wrong, received }).findings[0]?.[0];
  const sign = (recipe: Recipe, signed = request) =>
    compileRecipe(recipe).sign(signed, new Secret(secretText)).digest;

  type Change = Partial<typeof request>;
  const origin = 'http://api.example.com:8080';
  const json = (text: string): Change => ({ params: withValue('user_info', text) });
  const spread = '{"c":[1,{"b":"三/","d":2}],"a":null}';
  const form = (...names: string[]): Change => ({
    params: [...params.slice(0, 7), ...names.map((name) => [name, '1', 'form'] as const)],
    body: names.map((name) => `${name}=1`).join('&'),
  });

  /** What was signed; what was sent where it is not the request above. */
  it.each<[says: string, signed: Change, sent?: Change]>([
    ['with timestamp in seconds, and sent in milliseconds', {}, { params: milliseconds }],
    ['with https in the URL, which is http here', { url: url.replace('http', 'https') }],
    ['with http in the URL, which is https here', {}, { url: url.replace('http', 'https') }],
    ['with the host without its port', { url: url.replace(':8080', '') }],
    ['with a slash added or removed at the end of the path', { url: `${url}/` }],
    ['with a slash added or removed at the end of the path', {}, { url: `${url}/` }],
    ['with one more slash at the end of the path', { url: `${url}//` }, { url: `${url}/` }],
    ['with the path percent-encoded', { url: `${origin}%2Fv1%2Fusers` }],
    ['with an empty path', { url: origin }],
    ['with the path without the slash in front', { url: `${origin}v1/users` }],
    ['with the path without /v1', { url: `${origin}/users` }],
    ['with the path alone in place of the URL', { url: '/v1/users' }],
    ['with GET as the method', { method: 'GET' }],
    ['with POST as the method', { method: 'POST' }],
    ['with PUT as the method', {}, { method: 'GET' }],
    ['with the parameters of the query alone', form(), form('f', 'g')],
    [
      'with user_info without the escapes that were sent in it',
      json('{"a":"三"}'),
      json('{"a":"\\u4e09"}'),
    ],
    ['with a space before the value of $&', { params: [['$&', ' a']] }, { params: [['$&', 'a']] }],
  ])('signed %s', (says, signed, sent = {}) => {
    const received = sign(address, at(signed));
    const found = findingOf(caseOf(address, { request: at(sent) }), received);
    expect(found?.says).toBe(`It was signed ${says}.`);
  });

  it.each([
    ['with its non-ASCII characters as \\u escapes', '{"c":[1,{"b":"\\u4e09/","d":2}],"a":null}'],
    ['with its slashes escaped', '{"c":[1,{"b":"三\\/","d":2}],"a":null}'],
    [
      'with its non-ASCII characters and slashes escaped',
      '{"c":[1,{"b":"\\u4e09\\/","d":2}],"a":null}',
    ],
    ['with its keys sorted', '{"a":null,"c":[1,{"b":"三/","d":2}]}'],
    ['with its keys in the reverse order', '{"a":null,"c":[1,{"d":2,"b":"三/"}]}'],
    ['with spaces after its commas and colons', '{"c": [1, {"b": "三/", "d": 2}], "a": null}'],
    [
      'with its keys sorted and spaces after its commas and colons',
      '{"a": null, "c": [1, {"b": "三/", "d": 2}]}',
    ],
    [
      'with \\u escapes and spaces after its commas and colons',
      '{"c": [1, {"b": "\\u4e09/", "d": 2}], "a": null}',
    ],
    ...[2, 4].map((size) => ['on several lines', JSON.stringify(JSON.parse(spread), null, size)]),
  ])('over JSON %s', (says, signed) => {
    const wrong = caseOf(right, { request: at(json(spread)) });
    expect(findingOf(wrong, sign(right, at(json(signed ?? ''))))?.says).toBe(
      `It was signed with user_info ${says}.`,
    );
  });

  it.each<[says: RegExp, signed: string, own?: string]>([
    ...[...'\n \r\t\u00a0\u200b\ufeff', '\r\n'].flatMap((blank): [RegExp, string][] => [
      [/ after the secret/, secretText + blank],
      [/ before the secret/, blank + secretText],
    ]),
    [/spaces around the secret/, ` ${secretText} `],
    [/quotes around the secret/, `"${secretText}"`],
    [/quotes around the secret/, `'${secretText}'`],
    [/without the white space that is around the secret here/, secretText, ` ${secretText}\n`],
    [/an empty secret/, ''],
    [/the secret in another letter case/, secretText.toLowerCase()],
    [/the MD5 of the secret/, createHash('md5').update(secretText).digest('hex')],
  ])('by another secret: %s, %j', (says, signed, own = secretText) => {
    const received = compileRecipe(right).sign(request, new Secret(signed)).digest;
    expect(findingOf(caseOf(right, { secret: new Secret(own) }), received)?.says).toMatch(says);
  });

  it.each([
    ['encoded once too often', encodeURIComponent],
    ['sent with + as it is', (digest: string) => digest.replaceAll('+', ' ')],
  ])('%s', (_, change) => {
    const sent = Array.from({ length: 99 }, (_, index) =>
      at({ params: withValue('note', `${index}`) }),
    ).find((one) => sign(keyed, one).includes('+'));
    const received = change(sign(keyed, sent));
    expect(findingOf(caseOf(keyed, { request: sent ?? request }), received)?.id).toBe(
      'signature-encoding',
    );
  });

  const long = completeRecipe({ ...right, steps: ['sha512'], output: 'base64' });
  it.each<[string, Recipe, (digest: string) => string, string]>([
    ['a line break behind the digest', right, (digest) => `${digest}\n`, 'signature-space'],
    [
      'an invisible character behind the digest',
      right,
      (digest) => `${digest}\u200b`,
      'signature-space',
    ],
    ['quotes around the digest', right, (digest) => `“${digest}”`, 'signature-space'],
    ['base64 without padding', long, (digest) => digest.replace('==', ''), 'signature-padding'],
    [
      'base64url',
      long,
      (digest) => Buffer.from(digest, 'base64').toString('base64url'),
      'signature-alphabet',
    ],
  ])('%s', (_, recipe, change, id) => {
    expect(findingOf(caseOf(recipe), change(sign(recipe)))?.id).toBe(id);
  });

  it('the letter case of the digest, and nothing that would not change it', () => {
    const known = presets.map(({ name, recipe }) => ({
      name: `the preset ${name}`,
      value: recipe,
    }));
    const received = sign(right).toUpperCase();
    const { findings } = verifySignature({ ...caseOf(right, { otherRecipes: known }), received });
    expect(findings.map((finding) => finding.map(({ id }) => id))).toEqual([['signature-case']]);
  });

  it('found where the app key that was sent is the label of a secret', () => {
    const labelled = (list: readonly Param[]) =>
      at({ params: list.map(([name, value]) => [name, name === 'app_key' ? '<secret>' : value]) });
    const received = sign(right, labelled(milliseconds));
    expect(findingOf(caseOf(right, { request: labelled(params) }), received)?.id).toBe('time-unit');
  });

  it('with a keyed digest in milliseconds, though the secret is no hex', () => {
    const received = sign(keyed, at({ params: milliseconds }));
    expect(findingOf(caseOf(keyed), received)?.id).toBe('time-unit');
  });

  it('by a digest of a digest, one of them another', () => {
    const twice = (first: string) =>
      completeRecipe({ ...right, steps: [first, 'append:$secret', 'md5'] });
    expect(findingOf(caseOf(twice('md5')), sign(twice('sha1')))?.id).toBe('digest');
  });

  it('a known recipe, although the profile signs by a module', () => {
    const known = [{ name: 'the preset default', value: right }];
    const module = { signer: compileRecipe(keyed), recipe: null, otherRecipes: known };
    expect(findingOf(caseOf(keyed, module), sign(right))?.says).toBe(
      'It was signed by the preset default.',
    );
  });

  it('in another order than the list of the recipe', () => {
    const listed = completeRecipe({ ...right, params: { order: ['timestamp', 'note'] } });
    const received = sign(completeRecipe({ ...right, params: { order: 'name' } }));
    expect(findingOf(caseOf(listed), received)?.advice).toContain('timestamp, note, and no others');
  });

  it('key and secret swapped, with the secret sent as the key', () => {
    const swapped = at({ params: withValue('app_key', secretText) });
    const other = new Secret('another');
    const known = [{ name: 'the secret of profile "x"', value: other }];
    const received = compileRecipe(right).sign(swapped, other).digest;
    const found = findingOf(caseOf(right, { request: swapped, otherSecrets: known }), received);
    expect(found?.advice).toContain('swap the two, and ask for a new secret');
  });
});

describe('of a rule that signs the texts of a request', () => {
  const recipe = completeRecipe({
    message: ['$method', '$path', '$query', '$body'],
    join: '\n',
    steps: ['hmac-sha256'],
  });
  const sent = {
    ...requestOf([], { method: 'PUT', url: 'https://e.com/v1/x', body: 'C=%2F&a=1' }),
    query: 'b=2&a=%2f',
  };
  const withRecipe = (change: Partial<RecipeJson>) => completeRecipe({ ...recipe, ...change });

  it.each<[string, Partial<typeof sent>, Partial<RecipeJson>, RegExp]>([
    ['a line break', {}, { message: [...recipe.message, ''] }, /line break/],
    [
      'two parts swapped',
      {},
      { message: ['$path', '$method', '$query', '$body'] },
      /"\$method" and "\$path" swapped/,
    ],
    [
      'a part left out',
      {},
      { message: ['$method', '$path', '$body'] },
      /without "\$query" in the message/,
    ],
    ['another separator', {}, { join: '&' }, /"&" between the parts/],
    [
      'a digest of the form',
      {},
      { message: ['$method', '$path', '$query', '$body.sha256'] },
      /"\$body.sha256" in the place/,
    ],
    [
      'the URL for the path',
      {},
      { message: ['$method', '$url', '$query', '$body'] },
      /"\$url" in the place of "\$path"/,
    ],
    ['the form reversed', { body: 'a=1&C=%2F' }, {}, /the form with its .* reverse order|sorted/],
    [
      'the query reversed',
      { query: 'a=%2f&b=2' },
      {},
      /the query with its .* reverse order|sorted/,
    ],
    ['the query decoded', { query: 'b=2&a=/' }, {}, /decoded|encoded twice/],
    ['lower-case escapes', { body: 'C=%2f&a=1' }, {}, /the form with escapes in lower case/],
    [
      'another separator and no form',
      { body: '' },
      { join: '|' },
      /without the form.*"\|" between/,
    ],
    [
      'a space and a line break too many',
      { query: 'b=2&a=%2f ', body: 'C=%2F&a=1\n' },
      {},
      /space after the value of the query.*line break at the end of the form/,
    ],
  ])('signed with %s, the cause is named', (_, request, change, words) => {
    const received = compileRecipe(withRecipe(change)).sign(
      { ...sent, ...request },
      new Secret(secretText),
    ).digest;
    const { findings } = verifySignature({ ...caseOf(recipe, { request: sent }), received });
    const said = findings[0]?.map(({ says }) => says).join(' ');
    expect(said).toMatch(words);
  });
});

it.each([
  ['in the reverse order', [2, 1, 0]],
  ['with the form before the query', [2, 0, 1]],
])('of a rule in the order of the request, signed %s, the cause is named', (_, places) => {
  const recipe = completeRecipe({
    message: ['$params', '$secret'],
    params: { order: 'sent' },
    steps: ['md5'],
  });
  const sent: readonly Param[] = [
    ['b', '1'],
    ['a', '2'],
    ['c', '3', 'form'],
  ];
  const signed = places.flatMap((place) => sent.slice(place, place + 1));
  const received = compileRecipe(recipe).sign(requestOf(signed), new Secret(secretText)).digest;
  const { findings } = verifySignature({
    ...caseOf(recipe, { request: requestOf(sent) }),
    received,
  });
  expect(sentencesOf(findings[0] ?? [], 'says')).toMatch(
    places[1] === 1 ? /with the parameters in the reverse order/ : /with the form before the query/,
  );
});

describe('of a rule that encodes the parameters twice, the encoder is named', () => {
  const recipe = findPreset('aliyun-rpc')?.recipe ?? completeRecipe({ message: [], steps: [] });
  const sent = requestOf([
    ['Action', 'Send'],
    ['Msg', "8~10 pm *!'()"],
  ]);
  const java = (text: string) =>
    encodeURIComponent(text)
      .replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+');

  it.each<[string, (text: string) => string, RegExp]>([
    ['encodeURIComponent', encodeURIComponent, /encodeURIComponent of JavaScript/],
    ['URLEncoder', java, /as by Java \(a space/],
    ['URLEncoder and %20', (text) => java(text).replaceAll('+', '%20'), /Java, \+ replaced by %20/],
  ])('%s', (_, encode, words) => {
    const block = sent.params.map((pair) => pair.slice(0, 2).map((text) => encode(String(text))));
    const message = `GET&%2F&${encode(block.map((pair) => pair.join('=')).join('&'))}`;
    const received = createHmac('sha1', `${secretText}&`).update(message).digest('base64');
    const { findings } = verifySignature({ ...caseOf(recipe, { request: sent }), received });
    expect(sentencesOf(findings[0] ?? [], 'says')).toMatch(words);
  });
});

describe('bytes of another charset', () => {
  const chinese: readonly Param[] = [
    ['a', '备注 é😀'],
    ['b', '張'],
  ];
  const sent = requestOf(chinese);

  it.each<[string, Recipe, Buffer, string]>([
    [
      'GB18030',
      completeRecipe({ message: ['$param:a'], steps: ['md5'] }),
      Buffer.from('b1b8d7a220a8a69439fc36', 'hex'),
      'GB18030',
    ],
    [
      'GBK, which lacks the emoji',
      completeRecipe({ message: ['$param:a'], steps: ['md5'] }),
      Buffer.from('b1b8d7a220a8a63f', 'hex'),
      'GBK',
    ],
    [
      'Big5',
      completeRecipe({ message: ['$param:b'], steps: ['md5'] }),
      Buffer.from('b169', 'hex'),
      'Big5',
    ],
    [
      'Latin-1',
      completeRecipe({ message: ['$param:a'], steps: ['md5'] }),
      Buffer.from('3f3f20e93f', 'hex'),
      'Latin-1',
    ],
    [
      'GBK, percent-encoded',
      completeRecipe({ message: ['$param:b.rfc3986', '-'], steps: ['md5'] }),
      Buffer.from('%8F%88-'),
      'GBK',
    ],
    [
      'GBK, percent-encoded in lower case',
      completeRecipe({ message: ['$param:b.form-dotnet', '-'], steps: ['md5'] }),
      Buffer.from('%8f%88-'),
      'GBK',
    ],
  ])('%s: the charset is named', (_, recipe, bytes, name) => {
    const received = createHash('md5').update(bytes).digest('hex');
    const { findings } = verifySignature({ ...caseOf(recipe, { request: sent }), received });
    expect(findings[0]?.[0]?.says).toBe(
      `It was signed with the text as bytes of ${name} in place of UTF-8.`,
    );
  });
});

const keyedBy = (token: string, decode: KeyDecoding) => ({ key: { tokens: [token], decode } });
const order = [
  'app_key',
  'tenant_code',
  'info_name',
  'note',
  'random',
  'channel',
  'timestamp',
  'user_info',
];
/** The words for it, the rule, and what was different where it was signed. */
it.each<[RegExp, Partial<RecipeJson>, Partial<RecipeJson>]>([
  [
    /line break at the end of a digest/,
    { steps: ['md5', 'sha1'] },
    { steps: ['md5', 'append:\n', 'sha1'] },
  ],
  [
    /"\\n" between pairs and parts/,
    { params: { pairSep: '|' }, message: ['$params', '$secret'], join: '|' },
    { params: { pairSep: '\n' }, join: '\n' },
  ],
  [
    /" " between pairs and parts/,
    { message: ['$params&$secret'] },
    { params: { pairSep: ' ' }, message: ['$params $secret'] },
  ],
  [
    /" " between the parts of the message, and in them/,
    { message: ['$method', '$path\n'], join: '\n' },
    { message: ['$method', '$path '], join: ' ' },
  ],
  [
    /"\$\{url\}.rfc3986.rfc3986" in the place/,
    { message: ['$url.rfc3986', '&'] },
    { message: ['$url.rfc3986.rfc3986', '&'] },
  ],
  [
    /random in lower case/,
    { message: ['$param:random', '$secret'] },
    { message: ['$param:random.lower', '$secret'] },
  ],
  [
    /note percent-encoded once more/,
    { message: ['$param:note', '-'] },
    { message: ['$param:note.rfc3986', '-'] },
  ],
  [
    /without the step "sha256"/,
    { steps: ['sha256', 'prepend:$method', 'md5'] },
    { steps: ['prepend:$method', 'md5'] },
  ],
  [
    /without "v1" in a step/,
    { steps: ['sha1', 'prepend:v1$method', 'md5'] },
    { steps: ['sha1', 'prepend:$method', 'md5'] },
  ],
  [
    /"\$\{secret\}" in the place of "\$secret.md5"/,
    { message: ['a$secret.md5'] },
    { message: ['a$secret'] },
  ],
  [
    /"\$\{secret\}" in the place/,
    { steps: ['hmac-sha1'], ...keyedBy('$secret.sha256', 'hex') },
    keyedBy('$secret', 'utf8'),
  ],
  [
    /in the place of "\$secret.md5"/,
    { params: { add: { k: '$secret.md5' } } },
    { params: { add: { k: '$secret' } } },
  ],
  [/the parameters channel and tenant_code swapped/, {}, { params: { order } }],
  [
    /"\$\{params\}" in the place of "\$params.lower"/,
    { message: ['$params.lower'] },
    { message: ['$params'] },
  ],
  [
    /nothing encoded/,
    { message: ['$url.rfc3986', '$params'], params: { encode: 'rfc3986' } },
    { message: ['$url', '$params'], params: {} },
  ],
  [
    /":" in the place of "\."/,
    { message: ['$body', '.', '$path', '.'] },
    { message: ['$body', ':', '$path', ':'] },
  ],
  [/"\$body" alone/, { message: ['$path', '.', '$body'] }, { message: ['$body'] }],
  [
    /sorted by name\./,
    { params: { order: ['timestamp', 'note'] } },
    { params: { include: ['timestamp', 'note'] } },
  ],
])('of a wrong signature, the cause is %s', (words, rule, change) => {
  const recipe = completeRecipe({ message: ['$params'], steps: ['md5'], ...rule });
  const received = compileRecipe({ ...recipe, ...change } as RecipeJson).sign(
    request,
    new Secret(secretText),
  ).digest;
  const { findings } = verifySignature({ ...caseOf(recipe), received });
  expect(findings[0]?.map(({ says }) => says).join(' ')).toMatch(words);
});

/** Each value of a field, for parameters that each of them writes in its own way. */
it.each([
  ...orders.slice(1).map((order) => ['order', 'params.order', order] as const),
  ...textEncodings.slice(1).map((encoding) => ['encoding', 'params.encode', encoding] as const),
  ...textEncodings
    .slice(1)
    .map((encoding) => ['encoding', 'message.0', `$params.${encoding}`] as const),
])('of a wrong signature, the cause is the %s, %s %s', (id, field, value) => {
  const recipe = completeRecipe({ message: ['$params', '/$secret'], steps: ['md5'] });
  const sent = requestOf([...new URLSearchParams('b=~+/&a_b=&B=1&ab=3&b=0')]);
  const received = compileRecipe(withValueAt(recipe, field, value)).sign(
    sent,
    new Secret(secretText),
  ).digest;
  const { findings } = verifySignature({ ...caseOf(recipe, { request: sent }), received });
  expect(findings.map((finding) => finding.map((one) => one.id))[0]).toEqual([id]);
});

describe('a rule whose parts have no text between them', () => {
  const parts = ['$method', '$path', '$query', '$body'];
  const ruleOf = (message: readonly string[], join = '') =>
    completeRecipe({ message: [...message], join, steps: ['hmac-sha256'] });
  const sent = {
    ...requestOf([], {
      method: 'POST',
      url: 'https://e.com/v1/x',
      body: 'a=1+2%2F3',
    }),
    query: 'b=2',
  };
  const swaps = parts.flatMap((one, from) =>
    parts
      .slice(from + 1)
      .map(
        (other) =>
          [
            ruleOf(parts.map((part) => (part === one ? other : part === other ? one : part))),
            `with ${JSON.stringify(one)} and ${JSON.stringify(other)} swapped.`,
          ] as const,
      ),
  );
  const left = parts.map(
    (one) => [ruleOf(parts.filter((part) => part !== one)), /without |no method/] as const,
  );
  const joined = ['\n', '&', '|', ':'].map(
    (join) => [ruleOf(parts, join), `${JSON.stringify(join)} between`] as const,
  );

  it.each([...swaps, ...left, ...joined])('signed by %j, the cause is named', (signed, words) => {
    const received = compileRecipe(signed).sign(sent, new Secret(secretText)).digest;
    const { findings } = verifySignature({ ...caseOf(ruleOf(parts), { request: sent }), received });
    const said = sentencesOf(findings[0] ?? [], 'says');
    if (typeof words === 'string') expect(said).toContain(words);
    else expect(said).toMatch(words);
  });

  it('signed with the form decoded, the cause is named', () => {
    const rule = ruleOf(parts);
    const signed = { ...sent, body: 'a=1 2/3' };
    const received = compileRecipe(rule).sign(signed, new Secret(secretText)).digest;
    const { findings } = verifySignature({ ...caseOf(rule, { request: sent }), received });
    expect(sentencesOf(findings[0] ?? [], 'says')).toContain('with the form decoded as a form');
  });
});

describe('each value that a rule signs, each way to spoil it', () => {
  const ruleOf = (encode: 'none' | 'rfc3986') =>
    completeRecipe({
      params: { encode },
      message: ['$method', '$path', '$params', '$body'],
      join: '\n',
      steps: ['hmac-sha256'],
    });
  const sent = requestOf(
    [
      ['a', ' Be/e '],
      ['t', '1700000000'],
      ['u', 'x%2Fy'],
      ['p', '“ｐ\u200b”'],
      ['v', 'ﬁe\u0301+\r\n'],
    ],
    {
      method: 'POST',
      url: 'https://e.com/v1/Caf%C3%A9',
      body: ' {"A":"b/é"} ',
    },
  );
  type Change = (text: string) => string;
  const put: Readonly<Record<string, (change: Change) => Partial<typeof sent>>> = {
    'the form': (change) => ({ body: change(sent.body ?? '') }),
    'the path': (change) => ({ url: `https://e.com${change('/v1/Caf%C3%A9')}` }),
    'the method': (change) => ({ method: change(sent.method) }),
  };
  const texts = ['a', 'the form'];
  const changes: readonly (readonly [
    how: string,
    change: Change,
    of: readonly string[],
    words: RegExp,
  ])[] = [
    ['left out', () => '', ['a', 'the form', 'the method'], /without|empty|no method/],
    ['in milliseconds', (text) => `${text}000`, ['t'], /in milliseconds/],
    ['trimmed', (text) => text.trim(), texts, /without the white space/],
    [
      'in lower case',
      (text) => text.toLowerCase(),
      [...texts, 'the path', 'the method'],
      /lower case/,
    ],
    ['in upper case', (text) => text.toUpperCase(), texts, /upper case/],
    [
      'encoded once more',
      encodeURIComponent,
      [...texts, 'u', 'the path'],
      /encoded once more|percent-encoded/,
    ],
    ['decoded', decodeURIComponent, ['u', 'the path'], /encoded twice|decoded/],
    ['with a line break', (text) => `${text}\n`, [...texts, 'u'], /line break at/],
    ['with CR LF', (text) => `${text}\r\n`, texts, /CR LF/],
    ['with LF for CR LF', (text) => text.replace('\r', ''), ['v'], /LF in v/],
    ['with + for a space', (text) => text.replaceAll(' ', '+'), ['a', 'the form'], /with \+ in/],
    ['with a space for +', (text) => text.replace('+', ' '), ['v'], /with a space in v/],
    ['as a form', encoders.form, texts, /form-encoded once more/],
    ['with a space before it', (text) => ` ${text}`, texts, /space before/],
    ['with a space after it', (text) => `${text} `, texts, /space after/],
    ['decomposed', (text) => text.normalize('NFD'), ['the form'], /normal form/],
    ['composed', (text) => text.normalize('NFC'), ['v'], /normal form/],
    [
      'without a paste',
      (text) => text.slice(1, -1).replace('\u200b', ''),
      ['p'],
      /quotes or invisible/,
    ],
    ['in ASCII', (text) => text.replace('ｐ', 'p'), ['p'], /full-width/],
  ];
  const cells = changes.flatMap(([how, change, of, words]) =>
    of.flatMap((name) =>
      (['none', 'rfc3986'] as const).map((encode) => [name, how, encode, change, words] as const),
    ),
  );

  it.each(cells)('%s, %s, encoded as %s', (name, _, encode, change, words) => {
    const recipe = ruleOf(encode);
    const inParams = {
      params: sent.params.map(([n, v]): Param => [n, n === name ? change(v) : v]),
    };
    const signed = { ...sent, ...(put[name]?.(change) ?? inParams) };
    const received = compileRecipe(recipe).sign(signed, new Secret(secretText)).digest;
    const { findings } = verifySignature({ ...caseOf(recipe, { request: sent }), received });
    const said = findings[0]?.map(({ says }) => says).join(' ');
    expect(said).toMatch(words);
    if (!/^the (?:path|method)/.test(name)) expect(said).toContain(name);
    expect(findings[0]).toHaveLength(1);
  });
});

test('what nobody could have guessed is not guessed', () => {
  expect(idsFor({ secret: 'nothing that is known' })).toBeUndefined();
});

test('the secret is in nothing that is found', () => {
  for (const [, made] of mistakes) {
    const recipe = completeRecipe({ ...right, ...made.recipe });
    const signed = { ...request, params: made.params ?? params };
    const received = compileRecipe(recipe).sign(
      signed,
      new Secret(made.secret ?? secretText),
    ).digest;
    const shown = JSON.stringify(verifySignature({ ...caseOf(right), received }));
    expect(shown.toLowerCase()).not.toContain(secretText.toLowerCase());
  }
});

test('a right signature is right, and no mistake is looked for', () => {
  const received = compileRecipe(right).sign(request, new Secret(secretText)).digest;
  expect(verifySignature({ ...caseOf(right), received })).toMatchObject({
    right: true,
    findings: [],
  });
});

describe("the operator's text to sign", () => {
  const sent: readonly Param[] = [
    ['a', '1'],
    ['b', 'x y'],
    ['name', '张三'],
    ['note', ''],
    ['t', '1700000000'],
    ['z', '2'],
  ];
  const recipe = completeRecipe({ ...right, params: { ...right.params, empty: 'keep' } });
  const ours = 'a=1&b=x y&name=张三&note=&t=1700000000&z=2&key=<secret>';
  const compare = (theirs: string, own = recipe) =>
    compareMessages(caseOf(own, { request: requestOf(sent) }), theirs);

  it.each([
    ['with the secret', ours.replace('<secret>', secretText)],
    ['with stars for it', ours.replace('<secret>', '********')],
    ['with a name for it', ours.replace('<secret>', '{APP_SECRET}')],
    ['as userinfo shows it', ours],
  ])('is the same %s', (_, theirs) => expect(compare(theirs)).toBeNull());

  it.each([
    [
      'sorted by value',
      'note=&a=1&t=1700000000&z=2&b=x y&name=张三&key=**********',
      'sorted by value',
    ],
    [
      'encoded',
      'a=1&b=x%20y&name=%E5%BC%A0%E4%B8%89&note=&t=1700000000&z=2&key=<secret>',
      'percent-encoded',
    ],
    ['with a space as +', ours.replace('x y', 'x+y'), 'with + in b'],
    [
      'without the empty value',
      ours.replace('note=&', ''),
      'without the parameters that are empty',
    ],
    ['in milliseconds', ours.replace('00&', '00000&'), 't in milliseconds'],
    ['with a line break at the end', `${ours}\n`, 'a line break at the end of the message'],
    [
      'with the secret in front',
      `<secret>${ours.replace('&key=<secret>', '')}`,
      'SECRETPARAMETERS',
    ],
    ['without the secret', ours.replace('&key=<secret>', ''), 'as PARAMETERS'],
    ['with a parameter less', ours.replace('a=1&', ''), 'without the parameter a'],
    [
      'with two parameters less',
      ours.replace('a=1&', '').replace('&z=2', ''),
      'Theirs leaves out a, z.',
    ],
    ['with a parameter more', ours.replace('&name', '&c=3&name'), 'Theirs also has c.'],
    ['with a space at the end', `${ours} `, 'Theirs also has " ".'],
    ['with another secret', ours.replace('<secret>', 'f00ba4'), 'theirs has 6 characters, ours 21'],
    [
      'with another secret as long',
      ours.replace('<secret>', 'f'.repeat(secretText.length)),
      'of the same length (21 characters)',
    ],
  ])('%s: the cause is told', (_, theirs, cause) => {
    expect(compare(theirs)?.causes[0]).toContain(cause);
  });

  it('without separators, has a part more or less', () => {
    const none = completeRecipe({
      params: { names: false, pairSep: '', empty: 'keep' },
      message: ['$params'],
      steps: ['hmac-md5'],
    });
    expect(compare('1x y张三xy17000000002', none)?.causes).toEqual(['Theirs also has "xy".']);
    expect(compare('1xy张三17000000002', none)?.causes).toEqual(['Theirs leaves out " ".']);
  });

  it('has another secret twice, which repeats what is before it', () => {
    const twice = completeRecipe({ message: ['1', '$secret', '1', '$secret'], steps: ['md5'] });
    expect(compare('11x111x1', twice)?.causes).toEqual([
      'A different secret: theirs has 3 characters, ours 21.',
    ]);
  });

  it('is not split inside an emoji', () => {
    const emoji = compareMessages(
      caseOf(recipe, { request: requestOf([['a', '😁']]) }),
      'a=😀&key=<secret>',
    );
    expect(emoji?.ours.slice(0, emoji.alike)).toBe('a=');
  });

  it('differs from ours at a byte offset in UTF-8', () => {
    const difference = compare(ours.replace('张三', '张丁'));
    expect(difference?.offset).toBe(Buffer.byteLength('a=1&b=x y&name=张') + 2);
    expect(difference?.ours.slice(0, difference.alike)).toBe('a=1&b=x y&name=张');
  });

  it('is shown without either secret', () => {
    expect(JSON.stringify(compare(`a=2&key=${secretText}`))).not.toContain(secretText);
    expect(JSON.stringify(compare(ours.replace('<secret>', 'f00ba4')))).not.toContain('f00ba4');
  });
});
