import { decodeKey } from '../../../core/signing/digest-steps.js';
import {
  type KeyDecoding,
  type KeyRule,
  type Recipe,
  unlessRefused,
} from '../../../core/signing/recipe.js';
import type { Param } from '../../../core/signing/request.js';
import type { Secret } from '../../../core/signing/secret.js';
import {
  type Choice,
  choice,
  choices,
  combined,
  distinctBy,
  sortByBits,
  type Weighted,
} from './cost.js';
import { changed, glue, joinPieces, literal, modifierNamed, type Piece } from './pieces.js';
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
 * Texts that can be in the place of the secret: the secret, a digest of it, a digest of it with one
 * or two values. The key of a sub is rarely anything but the secret with what identifies the app,
 * the session or the time.
 */
export function secretForms(secret: Secret, pieces: RequestPieces): Piece[] {
  const text = secret.reveal();
  const plain: Piece = { tokens: ['$secret'], text, bits: 0.1 };
  const modified = modifiersOfSecrets.map(({ value, bits }) =>
    changed('$secret', text, value, bits),
  );
  const subs = [plain, changed('$secret', text, 'upper', 4)].flatMap((form) =>
    withValues(form, pieces, choices([0, ''], [3, '&'])).flatMap(digestsOf),
  );
  return sortByBits([plain, ...modified, ...subs.filter(({ bits }) => bits <= maxFormBits)]);
}

/** The secret with one or two values before, behind or around it, and a text between them. */
function withValues(
  secret: Piece,
  { values, extras }: RequestPieces,
  between: readonly Choice<string>[],
): Piece[] {
  const known = [...values, ...extras.map((extra) => ({ ...extra, bits: extra.bits + 1 }))];
  const orders = known.flatMap((one) => [
    choice([one, secret], 0),
    choice([secret, one], 1),
    ...known
      .filter((two) => two !== one)
      .flatMap((two) =>
        choices([1, [one, two, secret]], [2, [secret, one, two]], [3, [one, secret, two]]),
      ),
  ]);
  return combined(orders, between, joinPieces).map(({ value, bits }) => ({
    ...value,
    bits: value.bits + bits,
  }));
}

const subDigests = choices<string>([5, 'md5:hex'], [6, 'md5:HEX'], [7.5, 'sha1:hex', 'sha256:hex']);

function digestsOf({ tokens, text, bits }: Piece): Piece[] {
  return subDigests.map(({ value: step, bits: own }) => ({
    tokens: ['$sub:inner'],
    text: modifierNamed(step)(text),
    bits: bits + own,
    sub: { inner: { message: tokens, steps: [step] } },
  }));
}

/** Names of the secret in a message, the likeliest first. */
const common: readonly (readonly [bits: number, names: string])[] = [
  [0.8, 'key'],
  [3, 'secret appSecret app_secret appsecret'],
  [4, 'appkey app_key appKey secretKey secret_key secretkey'],
  [
    5,
    'AppSecret AppKey signKey sign_key signkey token apiKey api_key apikey KEY Key SECRET Secret',
  ],
  [
    6,
    'apiSecret api_secret apisecret client_secret clientSecret partnerKey partner_key merchantKey merchant_key mch_key md5key md5Key sk',
  ],
  [
    6.5,
    'APPSECRET APP_SECRET APPKEY APP_KEY accessKey access_key accessKeySecret access_secret accessSecret authKey auth_key password passwd pwd payKey pay_key paykey private_key privateKey salt passphrase',
  ],
  [
    7,
    'SecretKey MD5Key SignKey HashKey HashIV skey jsapi_ticket ticket securityKey security_key safecode consumer_secret shared_secret sign_secret signSecret app_token appToken access_token TOKEN Token SK ak paternerKey partner_secret partnerSecret merchant_secret merchantSecret mchKey mch_secret verify_key hash_key',
  ],
];

/**
 * Possible names of the secret in the message: the common ones, and those that the naming of the
 * request suggests (`mch_id` suggests `mch_key` and `mch_secret`).
 */
export function secretNames(params: readonly Param[]): Choice<string>[] {
  const known = common.flatMap(([bits, names]) =>
    names.split(' ').map((name) => choice(name, bits)),
  );
  return distinctBy(
    [...known, ...params.flatMap(([name]) => relatedNames(name))],
    ({ value }) => value,
  );
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
  readonly sub?: Recipe['sub'];
}

const decodings = choices<KeyDecoding>([4, 'hex'], [4.5, 'base64'], [6.5, 'base64url']);

/** Digests of the secret whose bytes are the key. */
const rawDigests = choices<string>([6.5, 'sha256'], [7, 'md5'], [8, 'sha1']);

/**
 * The keys of HMAC steps: the secret as it is or decoded, its other forms, and the secret with
 * values.
 */
export function keyForms(forms: readonly Piece[], pieces: RequestPieces): KeyForm[] {
  const [plain, ...others] = forms;
  if (plain === undefined) return [];
  const texts = [
    plain,
    ...others.map((form) => ({ ...form, bits: form.bits + 1 })),
    glue(plain, literal('&', 4)),
    ...withValues(plain, pieces, choices([4.5, '&'], [6, ''], [7, '\n'])),
  ].filter(({ bits }) => bits <= maxFormBits);
  const raw = rawDigests.flatMap(({ value, bits }) =>
    asKey(changed('$secret', plain.text, value, bits), 'hex', bits),
  );
  const decoded = decodings.flatMap(({ value, bits }) => asKey(plain, value, bits, /^.{16,}$/));
  return sortByBits([
    ...texts.flatMap((piece) => asKey(piece, 'utf8', piece.bits)),
    ...decoded,
    ...raw,
  ]);
}

function asKey(
  { tokens, text, sub }: Piece,
  decode: KeyDecoding,
  bits: number,
  shape = /^/,
): KeyForm[] {
  if (!shape.test(text)) return [];
  const bytes = unlessRefused(() => decodeKey(text, decode));
  return bytes === null
    ? []
    : [{ rule: { tokens, decode }, bytes, bits, ...(sub !== undefined && { sub }) }];
}
