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
  /** All extra values, or all but one or more, in the orders of documented rules, each with the cost of choosing it. */
  readonly extraLists: readonly Choice<readonly Piece[]>[];
  /** The query as it was sent; empty where it is not known. */
  readonly query: Piece;
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
    extraLists: extraListsOf(request),
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

/** Labels of a header in a message: its name in lower case or as it is, then a separator. */
const labels: readonly Choice<(name: string) => string>[] = [
  choice((name) => `${name.toLowerCase()}:`, 2),
  choice((name) => `${name}:`, 3),
  choice((name) => `${name}=`, 3.5),
  choice((name) => `${name.toLowerCase()}=`, 4),
  choice((name) => `${name.toLowerCase()}: `, 4.5),
  choice((name) => `${name}: `, 5),
];

/** Up to this many values are tried in every order. */
const mostPermuted = 3;

/**
 * Two or more extra values. A sample file names a value only if it is signed, so that all of them are likelier than
 * some; in the order of the request, by name, or, of few, in any order; with labels or without.
 */
function extraListsOf({ extra }: SignableRequest): Choice<readonly Piece[]>[] {
  const names = Object.keys(extra).filter((name) => namedToken('extra', name) !== null);
  const orders = subsetsOf(names).flatMap(({ value, bits }) => ordersOf(value, bits));
  const plain = orders.map(({ value, bits }) =>
    choice(
      value.map((name): Piece => extraPiece(extra, name, '')),
      bits,
    ),
  );
  const labelled = [...names.map((name) => choice([name], 2 + oneIn(names.length))), ...orders].flatMap(
    ({ value, bits }) =>
      labels.map((label) =>
        choice(
          value.map((name) => extraPiece(extra, name, label.value(name))),
          bits + label.bits,
        ),
      ),
  );
  return distinctBy([...plain, ...labelled], ({ value }) => value.map(({ tokens }) => tokens).join('\0'));
}

/** One entry of a message, so that a separator of the entries does not come between label and value. */
function extraPiece(extra: SignableRequest['extra'], name: string, label: string): Piece {
  const token = namedToken('extra', name) ?? '';
  return { tokens: [literal(label).tokens.join('') + token], text: label + (extra[name] ?? ''), bits: 0 };
}

/** All names, then all but one, then, of a few, every two; none where there are fewer than two. */
function subsetsOf(names: readonly string[]): Choice<readonly string[]>[] {
  if (names.length < 2) return [];
  const butOne = names.map((name) => names.filter((other) => other !== name));
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((two) => [one, two]));
  const fewer = [...butOne, ...(names.length <= 4 ? pairs : [])].filter((list) => list.length >= 2);
  return [choice(names, 0), ...fewer.map((list) => choice(list, 1.5 + oneIn(fewer.length)))];
}

function ordersOf(names: readonly string[], bits: number): Choice<readonly string[]>[] {
  const sorted = [...names].sort();
  const lower = [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const others = names.length <= mostPermuted ? permutations(names) : [];
  const all = [
    choice(names, bits + 0.5),
    choice(sorted, bits + 1.5),
    choice(lower, bits + 1.5),
    ...others.map((list) => choice(list, bits + 1 + oneIn(others.length))),
  ];
  return distinctBy(all, ({ value }) => value.join('\0'));
}

function permutations(names: readonly string[]): (readonly string[])[] {
  if (names.length < 2) return [names];
  return names.flatMap((name) =>
    permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  );
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
