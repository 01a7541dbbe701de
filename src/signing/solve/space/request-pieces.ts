import { encoders } from '../../encodings.js';
import { modifiers } from '../../modifiers.js';
import { hostOf, type Param, paramOf, pathOf, type SignableRequest } from '../../request.js';
import { type Choice, choice, oneIn } from './choice.js';
import { type ParameterRole, roleOf } from './parameter-role.js';
import { distinctParams, namedToken, type Piece } from './piece.js';

/** The parts of a request that may stand in a message by themselves, each as if it were there for certain: 0 bits. */
export interface RequestPieces {
  readonly method: Piece;
  readonly host: Piece;
  readonly path: Piece;
  readonly url: Piece;
  /** The path with its beginning left out: `/openapi/v1/x` as `v1/x`. */
  readonly shortPaths: readonly Piece[];
  /** The raw body, and its digests. */
  readonly bodies: readonly Piece[];
  /** Names of parameters; the bits say which one of them stands in a message by itself. */
  readonly names: readonly Choice<string>[];
  /** The values of these, but for names that no token can hold. */
  readonly values: readonly Piece[];
  /** Extra values of the sample; the bits say which one of them. */
  readonly extras: readonly Piece[];
}

export function requestPieces(request: SignableRequest): RequestPieces {
  const { method, url, body } = request;
  const names = priceNames(request.params);
  return {
    method: { tokens: ['$method'], text: method, bits: 0 },
    host: { tokens: ['$host'], text: hostOf(url), bits: 0 },
    path: { tokens: ['$path'], text: pathOf(url, ''), bits: 0 },
    url: { tokens: ['$url'], text: url, bits: 0 },
    shortPaths: shortPaths(url),
    bodies: [
      { tokens: ['$body'], text: body ?? '', bits: 0 },
      ...bodyDigests.map(([name, bits]) => changed('$body', body ?? '', name, bits)),
    ],
    names,
    values: names.flatMap(({ value: name, bits }) => {
      const token = namedToken('param', name);
      return token === null ? [] : [{ tokens: [token], text: paramOf(request, name) ?? '', bits }];
    }),
    extras: extrasOf(request),
  };
}

const bodyDigests = [
  ['md5', 2],
  ['MD5', 4],
  ['sha256', 3.5],
  ['sha1', 5],
  ['base64', 5.5],
  ['md5:base64', 6],
] as const;

/** A token with a modifier. */
export function changed(token: string, text: string, modifier: string, bits: number): Piece {
  const change = modifiers.get(modifier);
  if (change === undefined) throw new Error(`there is no modifier ${modifier}`);
  return { tokens: [`${token}.${modifier}`], text: change.apply(text), bits };
}

/** A piece of one token, percent-encoded. */
export function percentEncoded({ tokens, text, ...piece }: Piece): Piece {
  return { ...piece, tokens: tokens.map((token) => `${token}.rfc3986`), text: encoders.rfc3986(text) };
}

function shortPaths(url: string): Piece[] {
  const path = pathOf(url, '');
  const [, first, second] = /^(\/[^/]*)(\/[^/]*)?/.exec(path) ?? [];
  const bases = ['/', `${first}`, `${first}/`, `${first}${second}`, `${first}${second}/`];
  const real = bases.filter((base) => base.length < path.length && path.startsWith(base));
  return [...new Set(real)].map((basePath, index) => ({
    tokens: ['$path'],
    text: pathOf(url, basePath),
    bits: index + 1,
    basePath,
  }));
}

/** How much oftener than any other a parameter of this role stands in a message by itself. */
const weights: Readonly<Record<ParameterRole, number>> = {
  app: 5,
  time: 5,
  nonce: 5,
  signing: 0.5,
  session: 1,
  other: 1,
};

/** Names of parameters; the bits say which one of them stands in a message by itself. */
export function priceNames(params: readonly Param[]): Choice<string>[] {
  const weighed = distinctParams(params).map(([name]) => ({ name, weight: weights[roleOf(name)] }));
  const sum = weighed.reduce((total, { weight }) => total + weight, 0);
  return weighed.map(({ name, weight }) => choice(name, oneIn(sum / weight)));
}

function extrasOf({ extra }: SignableRequest): Piece[] {
  const named = Object.entries(extra).flatMap(([name, text]) => {
    const token = namedToken('extra', name);
    return token === null ? [] : [{ tokens: [token], text }];
  });
  return named.map((piece) => ({ ...piece, bits: oneIn(named.length) }));
}
