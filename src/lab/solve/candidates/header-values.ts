import { paramOf, type SignableRequest } from '../../../core/signing/request.js';
import { type Choice, choice, choices, combined, distinctBy, oneIn } from './cost.js';
import { isProof, type ParameterRole, roleOf, weights } from './parameter-roles.js';
import {
  fuse,
  joinPieces,
  literal,
  namedToken,
  type Piece,
  percentEncoded,
  separators,
} from './pieces.js';

/**
 * The extra values of a request, each with the cost of choosing it: those of the app, the time and
 * a nonce first.
 */
export function headerValues({ extra }: SignableRequest): Piece[] {
  const names = usableNames(extra);
  const weightOf = (name: string) => (names.length <= 3 ? 1 : weights[headerRole(name)]);
  const sum = names.reduce((total, name) => total + weightOf(name), 0);
  return names.map((name) => ({ ...headerPiece(extra, name), bits: oneIn(sum / weightOf(name)) }));
}

function usableNames(extra: SignableRequest['extra']): string[] {
  return Object.keys(extra).filter((name) => namedToken('extra', name) !== null);
}

function headerRole(name: string): ParameterRole {
  const words = name.replace(/^x-/i, '').split('-');
  const whole = roleOf(words.join('_'));
  return whole === 'other' ? roleOf(words.at(-1) ?? '') : whole;
}

/** Labels of a header in a message: none; its name in lower case or as it is, then a separator. */
export const labels = choices<(name: string) => string>(
  [0, () => ''],
  [2, (name) => `${name.toLowerCase()}:`],
  [3, (name) => `${name}:`],
  [3.5, (name) => `${name}=`],
  [4, (name) => `${name.toLowerCase()}=`],
  [4.5, (name) => `${name.toLowerCase()}: `],
  [5, (name) => `${name}: `],
);

/** The labels of a header that a document names: more make the search of many headers too long. */
const maxLabels = 3;

/** Up to this many values are tried in every order. */
const maxPermuted = 3;

/** In the order of the request, by name, or, of few, in any order. */
function ordersOf(names: readonly string[]): Choice<readonly string[]>[] {
  const sorted = [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const others = names.length <= maxPermuted ? permutations(names) : [];
  return [
    choice(names, 0.5),
    choice(sorted, 1.5),
    ...others.map((list) => choice(list, 1 + oneIn(others.length))),
  ];
}

function permutations(names: readonly string[]): (readonly string[])[] {
  if (names.length < 2) return [names];
  return names.flatMap((name) =>
    permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  );
}

/**
 * Extra values that go together, with labels or without: all, as a sample file names a value only
 * if it is signed; those of the app, the time and a nonce; all of these but one; one with its
 * label.
 */
export function headerLists({ extra }: SignableRequest): Choice<readonly Piece[]>[] {
  const names = usableNames(extra);
  const proofs = names.filter((name) => isProof(headerRole(name)));
  const butOne = [names, proofs].flatMap((list) =>
    list.map((name) => list.filter((other) => other !== name)),
  );
  const chosen = [
    choice(names, 0),
    choice(proofs, 0.7),
    ...butOne.map((list) => choice(list, 1.5 + oneIn(names.length))),
    ...names.map((name) => choice([name], 2 + oneIn(names.length))),
  ].filter(({ value }) => value.length > 0);
  const ordered = chosen.flatMap((list) =>
    combined([list], ordersOf(list.value), (_, order) => order),
  );
  const lists = combined(ordered, labels, (list, label) =>
    list.map((name) => behind(label(name), headerPiece(extra, name))),
  );
  return distinctBy(lists, ({ value }) => value.map(({ tokens }) => tokens).join('\0'));
}

/**
 * A header that a document names, in any letter case, or else a parameter; or a header that is
 * missing, between joiners.
 */
export interface NamedValue {
  readonly name: string;
  readonly piece: Piece;
}

export function namedValue(request: SignableRequest, wanted: string, join = ''): NamedValue | null {
  const { extra } = request;
  const name = usableNames(extra).find((known) => known.toLowerCase() === wanted.toLowerCase());
  if (name !== undefined) return { name, piece: headerPiece(extra, name) };
  const text = paramOf(request, wanted);
  const token = namedToken('param', wanted);
  const missing = join === '' ? [] : [`$[\${extra:${wanted}}]`];
  const tokens = text === undefined || token === null ? missing : [token];
  return tokens.length === 0
    ? null
    : { name: wanted, piece: { tokens, text: text ?? '', bits: 0 } };
}

/**
 * The ways to write a value that a document names: behind the label that it says; or alone, behind
 * its name, or encoded.
 */
export function labelledValue(
  { name, piece }: NamedValue,
  said?: string,
): Choice<readonly Piece[]>[] {
  if (said !== undefined) return [choice([behind(said, piece)], 0)];
  const likely = labels.slice(0, maxLabels);
  return [
    ...likely.map(({ value, bits }) => choice([behind(value(name), piece)], bits)),
    choice([percentEncoded(piece)], 4.5),
  ];
}

/**
 * All of them one behind the other, with the same label: as entries of the message, or as one with
 * a text between.
 */
export function labelledValues(
  values: readonly NamedValue[],
  join?: string,
): Choice<readonly Piece[]>[] {
  return labels.flatMap(({ value: label, bits }) => {
    const pieces = values.map(({ name, piece }) => behind(label(name), piece));
    const joined = separators
      .filter(({ value, bits: rare }) => rare <= 4 && value !== join)
      .map((separator) =>
        choice([fuse(joinPieces(pieces, separator.value))], bits + separator.bits + 1),
      );
    return [choice(pieces, bits), ...joined];
  });
}

function headerPiece(extra: SignableRequest['extra'], name: string): Piece {
  return { tokens: [namedToken('extra', name) ?? ''], text: extra[name] ?? '', bits: 0 };
}

/**
 * One entry of a message, so that a separator of the entries does not come between label and value.
 */
function behind(label: string, piece: Piece): Piece {
  return label === '' ? piece : fuse(literal(label), piece);
}
