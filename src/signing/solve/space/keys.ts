import { decodeKey } from '../../key.js';
import type { KeyDecoding, KeyRule, SubRule } from '../../recipe.js';
import { RecipeError } from '../../recipe-error.js';
import { sortByBits, type Weighed } from './choice.js';
import { glue, literal, type Piece } from './piece.js';
import type { RequestPieces } from './request-pieces.js';

/** A key that an hmac step may have. */
export interface KeyForm extends Weighed {
  readonly rule: KeyRule;
  readonly bytes: Buffer;
  readonly sub?: SubRule;
}

const decodings: readonly (readonly [KeyDecoding, number])[] = [
  ['hex', 4],
  ['base64', 4.5],
  ['base64url', 6.5],
];

/** The keys of hmac steps: the secret as it is or decoded, what may stand for it, what may follow it. */
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
    ]),
  ];
  const decoded = decodings.flatMap(([decode, bits]) => asKey(plain, decode, bits, /^.{16,}$/));
  return sortByBits([...texts.flatMap((piece) => asKey(piece, 'utf8', piece.bits)), ...decoded]);
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
