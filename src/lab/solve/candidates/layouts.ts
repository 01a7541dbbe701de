import { memoize } from '../../../core/support/memoize.js';
import {
  type Choice,
  type CostRange,
  choice,
  choices,
  firstFrom,
  sortByBits,
  type Weighted,
} from './cost.js';
import { type Item, itemsIn, sequences } from './items.js';
import { LazyList, type Room } from './lazy-list.js';
import { glue, literal, nothing, type Piece, separators, textOf } from './pieces.js';
import type { SearchSpace } from './search-space.js';

/** The parts of the message before and after the parameter block. */
interface Layout extends Weighted {
  readonly before: Item;
  readonly after: Item;
  /** Whether it contains nothing but the secret. */
  readonly bare: boolean;
}

/** A layout without the secret. What joins its items to the block is among them. */
interface Surroundings extends Layout {
  readonly joiner: string;
}

/** The possible surroundings of the block; see `itemsIn` for `isEncoded`. */
function surroundings(space: SearchSpace, isEncoded: boolean): LazyList<Surroundings> {
  const { pieces, hasBody, task } = space;
  const known = task.hints?.join;
  const usual = isEncoded ? encodedJoiners : joiners;
  const fronts = frontsOf(space, isEncoded);
  const tails = sortByBits(sequences(itemsIn('tail', space), hasBody ? 1 : 0.3, maxSideBits));
  const none = (fronts[0]?.bits ?? 0) + (tails[0]?.bits ?? 0);
  const used = known === undefined ? usual : [choice(known, 0.9)];
  const key = ({ joiner, before, after }: Surroundings) =>
    `${joiner}\0${textOf(before)}\0${textOf(after)}`;
  return new LazyList(maxLayoutBits, key, space.room, (from, to, add) => {
    add({ before: [], after: [], joiner: '', bare: true, bits: none }, none);
    for (const { value: joiner, bits: joinerBits } of used) {
      const between = literal(joiner);
      for (const { value, separator = joiner, bits } of fronts) {
        // A method is usually a line of its own.
        const likelier = joiner === '\n' && value.includes(pieces.method) ? lineBits : 0;
        const spent = bits + joinerBits - likelier;
        const isEmpty = value.length === 0 && separator === joiner;
        for (let index = firstFrom(tails, from - spent); index < tails.length; index++) {
          const tail = tails[index] as Choice<Item>;
          const total = spent + tail.bits;
          if (total >= to) break;
          if (isEmpty && tail.value.length === 0) continue;
          const joined = value.flatMap((piece, place) =>
            place === 0 ? [piece] : [between, piece],
          );
          const before = isEmpty ? [] : [glue(...joined, literal(separator))];
          const after =
            tail.value.length === 0
              ? []
              : [glue(...tail.value.flatMap((piece) => [between, piece]))];
          add({ before, after, joiner, bare: false, bits: total }, total);
        }
      }
    }
  });
}

const joiners = [
  choice('', 0.9),
  ...separators.map(({ value, bits }) => choice(value, bits + 1.5)),
];
const encodedJoiners = [choice('&', 0.7), ...joiners.filter(({ value }) => value !== '&')];
/** How much likelier a line break is to join a method. */
const lineBits = 3;

/** Items, and the separator between them and the block, where it is not the joiner. */
interface Front extends Choice<Item> {
  readonly separator?: string;
}

function frontsOf(space: SearchSpace, isEncoded: boolean): Front[] {
  const { path, url } = space.pieces;
  const fronts = sequences(itemsIn('front', space, isEncoded), 0.3, maxSideBits);
  const places = fronts.filter(({ value }) => [path, url].some((at) => at === value.at(-1)));
  return sortByBits<Front>([
    ...fronts,
    ...places.map(({ value, bits }) => ({ value, separator: '?', bits: bits + 1 })),
    { value: [], separator: '&', bits: 5.5 },
    { value: [], separator: '?', bits: 8 },
  ]);
}

/** The text that separates the secret from the rest. */
interface SecretStyle extends Weighted {
  /** Before the secret, where something precedes it: `&key=`. */
  readonly last: Piece;
  /** Before the secret, where it is first: `key=`. */
  readonly first: Piece;
  /** After the secret, where something follows: `&`. */
  readonly end: Piece;
}

/** Adds the layouts within a range of costs that these surroundings are a part of. */
type MakeLayouts = (
  around: LazyList<Surroundings>,
  range: CostRange,
  take: (layout: Layout) => void,
) => void;

const openLayouts: MakeLayouts = (around, { from, to }, take) => {
  around.visit(from, to, take);
};

/**
 * With one of the forms of the secret; `stylesBeside` are the styles where the rest is joined with
 * a text.
 */
function keyedLayouts(
  forms: readonly Piece[],
  stylesBeside: (joiner: string) => readonly SecretStyle[],
): MakeLayouts {
  return (around, { from, to }, take) => {
    around.visit(0, to, ({ joiner, bare, before, after, bits }) => {
      for (const style of stylesBeside(joiner)) {
        if (bits + style.bits >= to) break;
        for (const form of forms) {
          const secretBits = style.bits + form.bits;
          if (bits + secretBits >= to) break;
          for (const spot of spots) {
            const total = bits + secretBits + spot.bits;
            if (total < from || total >= to) continue;
            const placed = spot.value(before, after, style, form);
            if (placed !== null) take({ before: placed[0], after: placed[1], bare, bits: total });
          }
        }
      }
    });
  };
}

/** Puts the secret into a layout; null where it would be in another spot. */
type Spot = (
  before: Item,
  after: Item,
  style: SecretStyle,
  secret: Piece,
) => readonly [before: Item, after: Item] | null;

const spots = choices<Spot>(
  [0, (before, after, { last }, secret) => [before, [...after, last, secret]]],
  [2, (before, after, { first, end }, secret) => [[first, secret, end, ...before], after]],
  [
    2.9,
    (before, after, { first, last, end }, secret) => [
      [first, secret, end, ...before],
      [...after, last, secret],
    ],
    (before, after, { last }, secret) =>
      after.length === 0 ? null : [before, [last, secret, ...after]],
  ],
  [
    3.5,
    (before, after, { first, end }, secret) =>
      before.length === 0 ? null : [[...before, first, secret, end], after],
  ],
);

const gluedBits = 1.3;
const glued: SecretStyle = { last: nothing, first: nothing, end: nothing, bits: gluedBits };

/**
 * Separators between the secret and the rest: the joiner of the rest, or nothing; where the rest
 * has none, any.
 */
const gluedStyles = memoize((joiner: string): readonly SecretStyle[] =>
  joiner === ''
    ? [
        glued,
        ...separators.map(({ value, bits }) => setOff(literal(value), bits + 2.5 + gluedBits)),
      ]
    : [setOff(literal(joiner), gluedBits), { ...glued, bits: gluedBits + 2 }],
);

/** The secret as one more pair, under one of the names, or separated as pairs are. */
function pairedStyles(
  names: readonly Choice<string>[],
  kvSep: string,
  pairSep: string,
): SecretStyle[] {
  const end = literal(pairSep);
  const named = names.map(({ value, bits }) => ({
    last: literal(pairSep + value + kvSep),
    first: literal(value + kvSep),
    end,
    bits: bits + 2.6,
  }));
  return sortByBits(pairSep === '' ? named : [setOff(end, 3.3), ...named]);
}

function setOff(separator: Piece, bits: number): SecretStyle {
  return { last: separator, first: nothing, end: separator, bits };
}

const maxLayoutBits = 14;
/** Maximum cost of the items before or after the block. */
const maxSideBits = 11;

/**
 * The cost of a secret that is in the layout, the block or the digest chain more than once, or
 * nowhere.
 */
export function secretCost(...places: readonly boolean[]): number {
  const count = places.filter((isThere) => isThere).length;
  return count === 0 ? absentBits : (count - 1) * doubledBits;
}

const doubledBits = 3;
const absentBits = 7;

/** A layout, and the texts before and after the block. */
export interface LayoutText {
  readonly before: string;
  readonly after: string;
  readonly layout: Layout;
}

/**
 * Layouts of one kind: without the secret, with the secret joined on, or with the secret as one
 * more pair.
 */
export interface LayoutKind {
  /** Whether the layouts contain the secret. */
  readonly keyed: boolean;
  /** The layouts around a block; see `itemsIn` for `isEncoded`. */
  readonly around: (isEncoded: boolean) => LazyList<LayoutText>;
}

export function layoutKinds(space: SearchSpace) {
  const { forms, secretNames, room } = space;
  const places = memoize((isEncoded: boolean) => surroundings(space, isEncoded));
  const kind = (keyed: boolean, make: MakeLayouts): LayoutKind => ({
    keyed,
    around: memoize((isEncoded) => layoutTexts(places(isEncoded), room, make)),
  });
  return {
    open: kind(false, openLayouts),
    glued: kind(true, keyedLayouts(forms, gluedStyles)),
    /** For a block of pairs with these separators. */
    paired: memoize((kvSep: string) =>
      memoize((pairSep: string) => {
        const styles = pairedStyles(secretNames, kvSep, pairSep);
        return kind(
          true,
          keyedLayouts(forms, () => styles),
        );
      }),
    ),
  };
}

function layoutTexts(
  around: LazyList<Surroundings>,
  room: Room,
  make: MakeLayouts,
): LazyList<LayoutText> {
  const key = ({ before, after }: LayoutText) => `${before}\0${after}`;
  return new LazyList<LayoutText>(maxLayoutBits, key, room, (from, to, add) => {
    make(around, { from, to }, (layout) => {
      add({ before: textOf(layout.before), after: textOf(layout.after), layout }, layout.bits);
    });
  });
}
