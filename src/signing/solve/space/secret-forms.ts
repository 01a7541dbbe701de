import { type Algorithm, digestText } from '../../digests.js';
import { folds } from '../../letter-case.js';
import type { Secret } from '../../secret.js';
import { sortByBits } from './choice.js';
import { join, nothing, type Piece } from './piece.js';
import { changed, type RequestPieces } from './request-pieces.js';

/** Nothing dearer than this stands for the secret. */
const dearestForm = 11;

const modifiersOfSecrets = [
  ['md5', 4.5],
  ['MD5', 6],
  ['sha256', 7.5],
  ['sha1', 7.5],
  ['upper', 7],
  ['lower', 7],
  ['base64', 7.5],
] as const;

/** What may stand where the secret does: the secret, a digest of it, a digest of it with a value or two. */
export function secretForms(secret: Secret, pieces: RequestPieces): Piece[] {
  const text = secret.reveal();
  const plain: Piece = { tokens: ['$secret'], text, bits: 0.1 };
  const modified = modifiersOfSecrets.map(([name, bits]) => changed('$secret', text, name, bits));
  const subs = subMessages(plain, modified, pieces).flatMap(digestsOf);
  return sortByBits([plain, ...modified, ...subs.filter(({ bits }) => bits <= dearestForm)]);
}

/** The key of a `$sub` digest is seldom anything but the secret and what identifies the app, the session or the moment. */
function subMessages(plain: Piece, modified: readonly Piece[], { values, extras }: RequestPieces): Piece[] {
  const upper = modified
    .filter(({ tokens }) => tokens[0] === '$secret.upper')
    .map((piece) => ({ ...piece, bits: 4 }));
  const around = [nothing, ...values, ...extras.map((extra) => ({ ...extra, bits: extra.bits + 1 }))];
  return [plain, ...upper].flatMap((secret) =>
    around.flatMap((one) =>
      around.flatMap((two) => {
        if (one === nothing && two === nothing) return [];
        if (one === two) return [];
        if (two === nothing) return glued([one, secret], [secret, one]);
        return one === nothing ? [] : glued([one, two, secret], [secret, one, two], [one, secret, two]);
      }),
    ),
  );
}

function glued(...orders: readonly (readonly Piece[])[]): Piece[] {
  return orders.flatMap((order, rank) => {
    const close = join(order, '');
    const apart = join(order, '&');
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
    text: foldsOf[format](digestText(algorithm, text, 'hex')),
    bits: bits + own,
    sub: { message: tokens, steps: [`${algorithm}:${format}`] },
  }));
}

const foldsOf = { hex: folds.none, HEX: folds.upper } as const;
