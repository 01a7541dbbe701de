import { hostOf, paramOf, pathOf, type SignableRequest } from '../../../core/signing/request.js';
import { type Choice, choices } from './cost.js';
import { headerLists, headerValues } from './header-values.js';
import { weighNames } from './parameter-roles.js';
import { changed, namedToken, type Piece } from './pieces.js';

/** The parts of a request that a message can hold by themselves, each at 0 bits, as if certain. */
export interface RequestPieces {
  readonly method: Piece;
  readonly host: Piece;
  readonly path: Piece;
  readonly url: Piece;
  /** The path without its prefix: `/openapi/v1/x` as `v1/x`. */
  readonly shortPaths: readonly Piece[];
  /** The raw body, and its digests. */
  readonly bodies: readonly Piece[];
  /**
   * Values of parameters, each with the cost of choosing it, except for names that a token cannot
   * hold.
   */
  readonly values: readonly Piece[];
  /** Extra values of the sample, each with the cost of choosing it. */
  readonly extras: readonly Piece[];
  /** Two or more of them together, or one with its name, each with the cost of choosing it. */
  readonly extraLists: readonly Choice<readonly Piece[]>[];
  /** The query as it was sent; empty where it is not known. */
  readonly query: Piece;
}

export function requestPieces(request: SignableRequest): RequestPieces {
  const { method, url, body } = request;
  return {
    method: { tokens: ['$method'], text: method, bits: 0 },
    host: { tokens: ['$host'], text: hostOf(url), bits: 0 },
    path: { tokens: ['$path'], text: pathOf(url, ''), bits: 0 },
    url: { tokens: ['$url'], text: url, bits: 0 },
    shortPaths: shortPaths(url),
    bodies: [
      { tokens: ['$body'], text: body ?? '', bits: 0 },
      ...bodyDigests.map(({ value, bits }) => changed('$body', body ?? '', value, bits)),
    ],
    values: weighNames(request.params).flatMap(({ value: name, bits }) => {
      const token = namedToken('param', name);
      return token === null ? [] : [{ tokens: [token], text: paramOf(request, name) ?? '', bits }];
    }),
    extras: headerValues(request),
    extraLists: headerLists(request),
    query: { tokens: ['$query'], text: request.query ?? '', bits: 0 },
  };
}

const bodyDigests = choices<string>(
  [2, 'md5'],
  [4, 'MD5'],
  [3.5, 'sha256'],
  [5, 'sha1'],
  [4.5, 'sha512', 'md5:base64', 'sha256:base64'],
  [5.5, 'base64'],
);

function shortPaths(url: string): Piece[] {
  const path = pathOf(url, '');
  const [, first, second] = /^(\/[^/]*)(\/[^/]*)?/.exec(path) ?? [];
  const last = path.slice(0, path.lastIndexOf('/') + 1);
  const bases = ['/', last, `${first}`, `${first}/`, `${first}${second}`, `${first}${second}/`];
  const real = bases.filter((base) => base.length < path.length && path.startsWith(base));
  return [...new Set(real)].map((basePath, index) => ({
    tokens: ['$path'],
    text: pathOf(url, basePath),
    bits: index + 1,
    basePath,
  }));
}
