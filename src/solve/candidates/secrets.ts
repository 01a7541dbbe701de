import { type Algorithm, digestText } from '../../signing/digest-algorithms.js';
import { decodeKey } from '../../signing/digest-steps.js';
import { type KeyDecoding, type KeyRule, RecipeError, type SubRule } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import type { Secret } from '../../signing/secret.js';
import { type Choice, choice, choices, distinctBy, sortByBits, type Weighted } from './cost.js';
import { changed, glue, joinPieces, literal, nothing, type Piece } from './pieces.js';
import type { RequestPieces } from './request-pieces.js';

const maxFormBits = 11;

const modifiersOfSecrets = choices<string>(
  [4.5, 'md5'],
  [6, 'MD5'],
  [7.5, 'sha256', 'sha1'],
  [7, 'upper', 'lower'],
  [7.5, 'base64'],
);

/**
 * Texts that can be in the place of the secret: the secret, a digest of it, a digest of it with one or two values.
 */
export function secretForms(secret: Secret, pieces: RequestPieces): Piece[] {
  const text = secret.reveal();
  const plain: Piece = { tokens: ['$secret'], text, bits: 0.1 };
  const modified = modifiersOfSecrets.map(({ value, bits }) => changed('$secret', text, value, bits));
  const subs = subMessages(plain, pieces).flatMap(digestsOf);
  return sortByBits([plain, ...modified, ...subs.filter(({ bits }) => bits <= maxFormBits)]);
}

/**
 * The key of a `$sub` digest is rarely anything but the secret with what identifies the app, the session or the
 * time.
 */
function subMessages(plain: Piece, { values, extras }: RequestPieces): Piece[] {
  const upper = changed('$secret', plain.text, 'upper', 4);
  const around = [nothing, ...values, ...extras.map((extra) => ({ ...extra, bits: extra.bits + 1 }))];
  return [plain, upper].flatMap((secret) =>
    around.flatMap((one) =>
      around.flatMap((two) => {
        if (one === two) return [];
        if (two === nothing) return glued([one, secret], [secret, one]);
        return one === nothing ? [] : glued([one, two, secret], [secret, one, two], [one, secret, two]);
      }),
    ),
  );
}

function glued(...orders: readonly (readonly Piece[])[]): Piece[] {
  return orders.flatMap((order, rank) => {
    const close = joinPieces(order, '');
    const apart = joinPieces(order, '&');
    return [
      { ...close, bits: close.bits + rank + (order.length - 2) },
      { ...apart, bits: apart.bits + rank + (order.length - 2) + 3 },
    ];
  });
}

const subDigests: readonly (readonly [algorithm: Algorithm, format: 'hex' | 'HEX', bits: number])[] = [
  ['md5', 'hex', 5],
  ['md5', 'HEX', 6],
  ['sha1', 'hex', 7.5],
  ['sha256', 'hex', 7.5],
];

function digestsOf({ tokens, text, bits }: Piece): Piece[] {
  return subDigests.map(([algorithm, format, own]) => ({
    tokens: ['$sub'],
    text: digestText(algorithm, text, format),
    bits: bits + own,
    sub: { message: tokens, steps: [`${algorithm}:${format}`] },
  }));
}

/** Names of the secret in a message, the likeliest first. */
const common: readonly (readonly [bits: number, names: string])[] = [
  [0.8, 'key'],
  [3, 'secret appSecret app_secret appsecret'],
  [4, 'appkey app_key appKey secretKey secret_key secretkey'],
  [5, 'AppSecret AppKey signKey sign_key signkey token apiKey api_key apikey KEY Key SECRET Secret'],
  [
    6,
    'apiSecret api_secret apisecret client_secret clientSecret partnerKey partner_key merchantKey merchant_key mch_key md5key md5Key sk',
  ],
  [
    6.5,
    'APPSECRET APP_SECRET APPKEY APP_KEY accessKey access_key accessKeySecret access_secret accessSecret authKey auth_key password passwd pwd payKey pay_key paykey private_key privateKey salt',
  ],
  [
    7,
    'SecretKey MD5Key SignKey HashKey HashIV skey jsapi_ticket ticket securityKey security_key safecode consumer_secret shared_secret sign_secret signSecret app_token appToken access_token TOKEN Token SK ak paternerKey partner_secret partnerSecret merchant_secret merchantSecret mchKey mch_secret verify_key hash_key',
  ],
];

/**
 * Possible names of the secret in the message: the common ones, and those that the naming of the request suggests
 * (`mch_id` suggests `mch_key` and `mch_secret`).
 */
export function secretNames(params: readonly Param[]): Choice<string>[] {
  const known = common.flatMap(([bits, names]) => names.split(' ').map((name) => choice(name, bits)));
  return distinctBy([...known, ...params.flatMap(([name]) => relatedNames(name))], ({ value }) => value);
}

const identifier = /^(.+?)([_-]?)(id|key|no|code)$/i;

function relatedNames(name: string): Choice<string>[] {
  const [, stem, separator = '', tail = ''] = identifier.exec(name) ?? [];
  if (stem === undefined) return [];
  return ['key', 'secret', 'token'].flatMap((word, rank) => [
    choice(stem + separator + sameCase(word, tail), 3 + rank),
    choice(stem + separator + capitalized(word), 4.5 + rank),
  ]);
}

/** `word` in the case of `model`: lower, upper or capitalized. */
function sameCase(word: string, model: string): string {
  if (model === model.toLowerCase()) return word;
  return model === model.toUpperCase() ? word.toUpperCase() : capitalized(word);
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A possible key of an HMAC step. */
export interface KeyForm extends Weighted {
  readonly rule: KeyRule;
  readonly bytes: Buffer;
  readonly sub?: SubRule;
}

const decodings = choices<KeyDecoding>([4, 'hex'], [4.5, 'base64'], [6.5, 'base64url']);

/** Digests of the secret whose bytes are the key. */
const rawDigests = choices<string>([6.5, 'sha256'], [7, 'md5'], [8, 'sha1']);

/** The keys of HMAC steps: the secret as it is or decoded, its other forms, and these with a suffix. */
export function keyForms(forms: readonly Piece[], { extras, values }: RequestPieces): KeyForm[] {
  const [plain, ...others] = forms;
  if (plain === undefined) return [];
  const ampersand = glue(plain, literal('&', 4));
  const texts = [
    plain,
    ...others.map((form) => ({ ...form, bits: form.bits + 1 })),
    ampersand,
    ...extras.map((extra) => glue(ampersand, extra, literal('', 1))),
    ...[...values, ...extras].flatMap((value) => [
      glue(plain, value, literal('', 6)),
      glue(value, plain, literal('', 6)),
      glue(value, literal('\n', 7), plain),
    ]),
  ];
  const raw = rawDigests.flatMap(({ value, bits }) =>
    asKey(changed('$secret', plain.text, value, bits), 'hex', bits),
  );
  const decoded = decodings.flatMap(({ value, bits }) => asKey(plain, value, bits, /^.{16,}$/));
  return sortByBits([...texts.flatMap((piece) => asKey(piece, 'utf8', piece.bits)), ...decoded, ...raw]);
}

function asKey({ tokens, text, sub }: Piece, decode: KeyDecoding, bits: number, shape = /^/): KeyForm[] {
  if (!shape.test(text)) return [];
  try {
    const bytes = decodeKey(text, decode);
    return [{ rule: { tokens, decode }, bytes, bits, ...(sub !== undefined && { sub }) }];
  } catch (error) {
    if (error instanceof RecipeError) return [];
    throw error;
  }
}
