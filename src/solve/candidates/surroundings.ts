import { type Choice, choice, sortByBits, type Weighted } from './cost.js';
import { glue, joinPieces, literal, nothing, type Piece, percentEncoded, separators } from './pieces.js';
import type { RequestPieces } from './request-pieces.js';
import type { SearchSpace } from './search-space.js';

/** The parts of the request before and after the parameter block, and what joins them to it. */
export interface Surroundings extends Weighted {
  readonly front: Piece;
  readonly tail: Piece;
  readonly joiner: string;
  /** Whether the block stands alone. */
  readonly bare: boolean;
}

type Pieces = readonly Piece[];

/**
 * The possible surroundings of the block up to a cost, the likeliest first. `encoded`: the block is percent-
 * encoded as a whole; then so are the path and the URL.
 */
export function surroundings(
  { pieces, hasBody }: SearchSpace,
  encoded: boolean,
  bound: number,
): Surroundings[] {
  const fronts = sortByBits(frontsOf(pieces, hasBody, encoded));
  const tails = sortByBits(tailsOf(pieces, hasBody));
  const found: Surroundings[] = [];
  for (const front of fronts) {
    for (const tail of tails) {
      if (front.bits + tail.bits > bound) break;
      const bare = front.value.length + tail.value.length === 0;
      const usual = front.value.includes(pieces.method) ? methodJoiners : joiners;
      for (const joiner of bare ? [choice('', 0)] : encoded ? encodedJoiners : usual) {
        const bits = front.bits + tail.bits + joiner.bits;
        if (bits > bound) break;
        found.push({
          front: beforeBlock(front, joiner.value),
          tail:
            tail.value.length === 0
              ? nothing
              : glue(literal(joiner.value), joinPieces(tail.value, joiner.value)),
          joiner: joiner.value,
          bare,
          bits,
        });
      }
    }
  }
  return sortByBits(found);
}

/** The surroundings in groups with the same joiner. */
export function byJoiner(around: readonly Surroundings[]): ReadonlyMap<string, readonly Surroundings[]> {
  const groups = new Map<string, Surroundings[]>();
  for (const place of around) {
    const group = groups.get(place.joiner);
    if (group === undefined) groups.set(place.joiner, [place]);
    else group.push(place);
  }
  return groups;
}

const joiners = [choice('', 0.9), ...separators.map(({ value, bits }) => choice(value, bits + 1.5))];
/** A method is usually a line of its own. */
const methodJoiners = sortByBits(
  joiners.map((joiner) => (joiner.value === '\n' ? choice('\n', 1.5) : joiner)),
);
const encodedJoiners = [choice('&', 0.7), ...joiners.filter(({ value }) => value !== '&')];

/** Pieces with a cost, and the separator between them and the block, where it is not the joiner. */
interface Front extends Choice<Pieces> {
  readonly separator?: string;
}

function beforeBlock({ value, separator }: Front, joiner: string): Piece {
  if (value.length === 0 && separator === undefined) return nothing;
  return glue(joinPieces(value, joiner), literal(separator ?? joiner));
}

function frontsOf(pieces: RequestPieces, hasBody: boolean, encoded: boolean): Front[] {
  const { method, bodies } = pieces;
  const places = placesOf(pieces, encoded);
  const single = namedPieces(pieces, 3.5);
  const common = places.filter(({ bits }) => bits < 6);
  return [
    choice([], 0.3),
    choice([method], 6),
    ...bodies.map((body) => choice([body], body.bits + (hasBody ? 5 : 8))),
    ...single,
    ...pairsOf(single),
    ...places,
    ...pieces.extraLists
      .filter(({ bits }) => bits < 7)
      .flatMap(({ value, bits }) => [
        choice(value, bits + 2),
        ...common.flatMap((place) => [
          choice([...place.value, ...value], place.bits + bits + 1.5),
          choice([...value, ...place.value], place.bits + bits + 1.5),
        ]),
      ]),
    ...single.flatMap((one) =>
      common.flatMap((place) => [
        choice([...place.value, ...one.value], place.bits + one.bits),
        choice([...one.value, ...place.value], place.bits + one.bits),
      ]),
    ),
    ...places.map((place): Front => ({ ...place, separator: '?', bits: place.bits + 1 })),
    { ...choice([], 5.5), separator: '&' },
    { ...choice([], 8), separator: '?' },
  ];
}

/** Path and URL, with method and host. */
function placesOf(
  { method, host, path, url, shortPaths }: RequestPieces,
  encoded: boolean,
): Choice<Pieces>[] {
  const encodedBits = encoded ? 0.5 : 4;
  const paths = [
    choice(path, 0),
    choice(percentEncoded(path), encodedBits),
    ...shortPaths.map((short) => choice(short, short.bits + 3)),
  ];
  const urls = [choice(url, 0), choice(percentEncoded(url), encodedBits)];
  return [
    ...paths.flatMap((at) => [
      choice([at.value], at.bits + 3.8),
      choice([method, at.value], at.bits + 5),
      choice([host, at.value], at.bits + 6.5),
      choice([method, host, at.value], at.bits + 5.2),
    ]),
    ...urls.flatMap((at) => [choice([at.value], at.bits + 5), choice([method, at.value], at.bits + 5.2)]),
  ];
}

function tailsOf(pieces: RequestPieces, hasBody: boolean): Choice<Pieces>[] {
  const single = namedPieces(pieces, 4);
  const bodies = pieces.bodies.map((body) => choice([body], body.bits + (hasBody ? 1 : 4.5)));
  return [
    choice([], hasBody ? 1 : 0.3),
    choice([pieces.path], 6),
    ...bodies,
    ...single,
    ...pairsOf(single),
    ...pieces.extraLists.filter(({ bits }) => bits < 7).map(({ value, bits }) => choice(value, bits + 2.5)),
    ...bodies.flatMap((body) =>
      single.map((one) => choice([...body.value, ...one.value], body.bits + one.bits)),
    ),
  ];
}

/** Single parameter values and extra values. */
function namedPieces({ values, extras }: RequestPieces, bits: number): Choice<Pieces>[] {
  return [
    ...values.map((piece) => choice([piece], piece.bits + bits)),
    ...extras.map((piece) => choice([piece], piece.bits + 1.5)),
  ];
}

/** Two of them: the second costs less than the first. */
function pairsOf(single: readonly Choice<Pieces>[]): Choice<Pieces>[] {
  return single.flatMap((one) =>
    single.flatMap((two) =>
      one === two ? [] : [choice([...one.value, ...two.value], one.bits + Math.max(0.5, two.bits - 2))],
    ),
  );
}
