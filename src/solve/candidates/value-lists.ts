import { type Piece, percentEncoded, type RequestPieces, textOf } from './pieces.js';
import { separators } from './separators.js';
import { type Choice, choice, distinctBy, sortByBits } from './weighted.js';

/** What it costs that a message holds no parameter block. */
export const listBits = 2;

/** No list is dearer than this, without what joins it and what becomes of it. */
export const dearestList = 16;

/** What stands together in a list: a value, or the method and the path. */
export type ListItem = readonly Piece[];

/** What may stand in a list; the bits say which one of them. */
export function listItems(pieces: RequestPieces, hasBody: boolean): Choice<ListItem>[] {
  const { method, path, url, host, bodies, shortPaths, values, extras } = pieces;
  return [
    ...values.map((value) => choice([value], value.bits + 0.5)),
    ...extras.map((extra) => choice([extra], extra.bits + 2)),
    choice([path], 4),
    choice([method], 5),
    choice([url], 4.5),
    choice([host], 6.5),
    choice([method, path], 4.5),
    choice([method, url], 4.5),
    choice([method, host, path], 6),
    ...bodies.map((body) => choice([body], body.bits + (hasBody ? 2 : 7))),
    ...shortPaths.map((short) => choice([short], short.bits + 5)),
    ...[path, url].map((part) => choice([percentEncoded(part)], 8)),
  ];
}

/** Of items that are the same in this request, the likeliest; what is empty is left out. */
export function distinctItems(items: readonly Choice<ListItem>[]): Choice<ListItem>[] {
  return distinctBy(
    items.filter(({ value }) => value.every(({ text }) => text !== '')),
    ({ value }) => textOf(value),
  );
}

/** Where the secret stands in a list: at its end, its beginning, both, before a part inside, or nowhere. */
export type SecretPlace = 'end' | 'start' | 'both' | 'none' | number;

const places: readonly Choice<SecretPlace>[] = [
  choice('end', 0.5),
  choice('start', 2.2),
  choice(1, 3.5),
  choice(2, 4),
  choice('both', 4.5),
  choice(3, 4.5),
  choice(4, 6),
];

/** The places beside a chain that holds the secret, or does not: the likeliest first. */
export function secretPlaces(keyedChain: boolean): Choice<SecretPlace>[] {
  return sortByBits([
    choice('none', keyedChain ? 0.3 : 7),
    ...places.map(({ value, bits }) => choice(value, keyedChain ? bits + 3 : bits)),
  ]);
}

export const listJoiners: readonly Choice<string>[] = [
  choice('', 0.7),
  ...separators.map(({ value, bits }) => choice(value, bits + 1.3)),
];

/** The parts of a message in order, the secret in its place; null where a list has no such place. */
export function placeSecret<T>(parts: readonly T[], place: SecretPlace, secret: T): readonly T[] | null {
  switch (place) {
    case 'none':
      return parts;
    case 'end':
      return [...parts, secret];
    case 'start':
      return [secret, ...parts];
    case 'both':
      return [secret, ...parts, secret];
    default:
      return place < parts.length ? [...parts.slice(0, place), secret, ...parts.slice(place)] : null;
  }
}
