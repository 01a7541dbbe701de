import { encoders } from '../../signing/encodings.js';
import type { SubRule } from '../../signing/recipe.js';
import { hostOf, type Param, paramOf, pathOf, type SignableRequest } from '../../signing/request.js';
import { modifiers } from '../../signing/template.js';
import { type Choice, choice, choices, distinctBy, oneIn, type Weighted } from './cost.js';

/** The role of a parameter, judged by its name. */
export type ParameterRole = 'app' | 'time' | 'nonce' | 'signing' | 'session' | 'other';

const roles: readonly (readonly [ParameterRole, RegExp])[] = [
  [
    'signing',
    /^_?(?:\w+_)?sign(?:ature)?[_-]?(?:type|method|version|ver|algorithm)?$|^(?:encrypt|digest|hash)_?type$/i,
  ],
  ['time', /time|^ts$|^t$|^date$|stamp/i],
  ['nonce', /nonce|^rand|random|^salt$|^echostr$|^guid$|^req(?:uest)?_?id$|^once$/i],
  [
    'app',
    /^(?:app|api|application|client|consumer|mch|merchant|partner|access|corp|developer|dev|open|pub|pay|sp|oauth_consumer)?[_-]?(?:id|key|code|no|name|access_?key(?:_?id)?)$|^(?:ak|pid|uid|appid|mid|cid|sid|user(?:name)?|account|secretid|pspid)$/i,
  ],
  [
    'session',
    /^(?:access|session|oauth|user|auth|refresh)?[_-]?(?:token|session|session_?key)$|^format$|^callback$|^jsonp$|^charset$/i,
  ],
];

export function roleOf(name: string): ParameterRole {
  return roles.find(([, shape]) => shape.test(name))?.[0] ?? 'other';
}

/** A part of a message: its recipe tokens, and its text in the sample. */
export interface Piece extends Weighted {
  /** Entries of `message`, literals and tokens. */
  readonly tokens: readonly string[];
  readonly text: string;
  /** The rule for `$sub` in the tokens. */
  readonly sub?: SubRule;
  /** The prefix that `$path` in the tokens leaves out. */
  readonly basePath?: string;
}

export const nothing: Piece = { tokens: [], text: '', bits: 0 };

export function literal(text: string, bits = 0): Piece {
  return text === '' ? { ...nothing, bits } : { tokens: [text.replaceAll('$', '$$$$')], text, bits };
}

export function glue(...pieces: readonly Piece[]): Piece {
  const sub = pieces.find((piece) => piece.sub !== undefined)?.sub;
  const basePath = pieces.find((piece) => piece.basePath !== undefined)?.basePath;
  return {
    tokens: pieces.flatMap(({ tokens }) => tokens),
    text: pieces.map(({ text }) => text).join(''),
    bits: pieces.reduce((sum, { bits }) => sum + bits, 0),
    ...(sub !== undefined && { sub }),
    ...(basePath !== undefined && { basePath }),
  };
}

export function joinPieces(pieces: readonly Piece[], separator: string): Piece {
  const between = literal(separator);
  return glue(...pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece])));
}

/** The token of a parameter or an extra value; null where a token cannot hold the name. */
function namedToken(source: 'param' | 'extra', name: string): string | null {
  if (/^[\w-]+$/.test(name)) return `$${source}:${name}`;
  return name === '' || /[{}]/.test(name) ? null : `\${${source}:${name}}`;
}

/** The token of a parameter or an extra value, in the form that any text may follow. */
export function bracedToken(source: 'param' | 'extra', name: string): string {
  return `\${${source}:${name}}`;
}

/** The cheapest piece of each text; empty ones are left out. */
export function distinctPieces(pieces: readonly Piece[]): Piece[] {
  return distinctBy(
    pieces.filter(({ text }) => text !== ''),
    ({ text }) => text,
  );
}

export function textOf(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) text += piece.text;
  return text;
}

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
  /** Parameter names, each with the cost of choosing it. */
  readonly names: readonly Choice<string>[];
  /** The values of these parameters, except for names that a token cannot hold. */
  readonly values: readonly Piece[];
  /** Extra values of the sample, each with the cost of choosing it. */
  readonly extras: readonly Piece[];
}

export function requestPieces(request: SignableRequest): RequestPieces {
  const { method, url, body } = request;
  const names = weighNames(request.params);
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
    names,
    values: names.flatMap(({ value: name, bits }) => {
      const token = namedToken('param', name);
      return token === null ? [] : [{ tokens: [token], text: paramOf(request, name) ?? '', bits }];
    }),
    extras: extrasOf(request),
  };
}

const bodyDigests = choices<string>(
  [2, 'md5'],
  [4, 'MD5'],
  [3.5, 'sha256'],
  [5, 'sha1'],
  [5.5, 'base64'],
  [6, 'md5:base64'],
);

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

/** Relative frequency of a parameter of this role as a part of its own in a message. */
const weights: Readonly<Record<ParameterRole, number>> = {
  app: 5,
  time: 5,
  nonce: 5,
  signing: 0.5,
  session: 1,
  other: 1,
};

export function weighNames(params: readonly Param[]): Choice<string>[] {
  const names = [...new Set(params.map(([name]) => name))];
  const weighed = names.map((name) => ({ name, weight: weights[roleOf(name)] }));
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

/** Separators of two texts, except for the empty one, the likeliest first. */
export const separators = choices<string>(
  [1.5, '&'],
  [2.5, ',', '|'],
  [3, '\n', ':'],
  [3.5, '_', '-', '.'],
  [4, ';'],
  [4.5, '#'],
  [5, '+', ' '],
  [5.5, '$', '@', '*', '/', '='],
  [6, '?', '~', '^'],
  [6.5, '!', '%', '&&', '||', '##', ', ', '\r\n', '\t'],
);

export const nameValueSeparators = choices<string>(
  [0.6, '='],
  [2, ''],
  [2.6, ':'],
  [5.5, '|', ',', '_', '-'],
  [6, '#'],
  [6.5, '==', '=>', ': ', '&'],
);
