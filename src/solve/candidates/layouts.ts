import { memoize } from '../../support/memoize.js';
import type { BlockChange, MessageChange } from './block-changes.js';
import { type Choice, type CostRange, firstFrom, roundingBits, sortByBits, type Weighted } from './cost.js';
import { LazyList } from './lazy-list.js';
import { literal, nothing, type Piece, separators, textOf } from './pieces.js';
import type { SearchSpace } from './search-space.js';
import { byJoiner, type Surroundings, surroundings } from './surroundings.js';

/** The parts of the message before and after the parameter block. */
interface Layout extends Weighted {
  readonly before: readonly Piece[];
  readonly after: readonly Piece[];
  /** Whether it contains nothing but the secret. */
  readonly bare: boolean;
}

/** The punctuation of the pairs in a block, and of the secret as one more pair. */
export interface PairStyle {
  readonly kvSep: string;
  readonly pairSep: string;
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

function openLayouts(
  around: readonly Surroundings[],
  { from, to }: CostRange,
  take: (layout: Layout) => void,
): void {
  for (const { front, tail, bare, bits } of around) {
    if (bits >= to) return;
    if (bits >= from) take({ before: [front], after: [tail], bare, bits });
  }
}

/** The styles of the secret where the rest is joined with this text. */
type StylesBeside = (joiner: string) => readonly SecretStyle[];

interface KeyedParts {
  readonly around: readonly Surroundings[];
  readonly stylesBeside: StylesBeside;
  /** Texts that can be in the place of the secret. */
  readonly forms: readonly Piece[];
}

function keyedLayouts(
  { around, stylesBeside, forms }: KeyedParts,
  range: CostRange,
  take: (layout: Layout) => void,
): void {
  for (const [joiner, places] of byJoiner(around)) {
    const least = places[0]?.bits ?? 0;
    for (const style of stylesBeside(joiner)) {
      if (least + style.bits >= range.to) break;
      for (const form of forms) {
        if (least + style.bits + form.bits >= range.to) break;
        for (const spot of spots) layAround(places, spot, style, form, range, take);
      }
    }
  }
}

function layAround(
  places: readonly Surroundings[],
  spot: Spot,
  style: SecretStyle,
  form: Piece,
  { from, to }: CostRange,
  take: (layout: Layout) => void,
): void {
  const { needs } = spot;
  const secretBits = style.bits + form.bits + spot.bits;
  for (let index = firstFrom(places, from - secretBits - roundingBits); index < places.length; index++) {
    const place = places[index] as Surroundings;
    const bits = place.bits + secretBits;
    if (bits >= to) return;
    if (bits < from || (needs !== null && place[needs] === nothing)) continue;
    const before = partsBefore(spot, place.front, style, form);
    const after = partsAfter(spot, place.tail, style, form);
    take({ before, after, bare: place.bare, bits });
  }
}

/** A place for the secret. */
interface Spot extends Weighted {
  /** Whether the message begins with the secret. */
  readonly opens: boolean;
  /** Whether the message ends with the secret. */
  readonly closes: boolean;
  /** The neighbour of a secret inside the message. Without it, the secret would be in one of the other spots. */
  readonly needs: 'front' | 'tail' | null;
}

const spots: readonly Spot[] = [
  { bits: 0, opens: false, closes: true, needs: null },
  { bits: 2, opens: true, closes: false, needs: null },
  { bits: 2.9, opens: true, closes: true, needs: null },
  { bits: 2.9, opens: false, closes: false, needs: 'tail' },
  { bits: 3.5, opens: false, closes: false, needs: 'front' },
];

function partsBefore(
  { opens, needs }: Spot,
  front: Piece,
  { first, end }: SecretStyle,
  form: Piece,
): Piece[] {
  if (opens) return [first, form, end, front];
  return needs === 'front' ? [front, first, form, end] : [front];
}

function partsAfter({ closes, needs }: Spot, tail: Piece, { last }: SecretStyle, form: Piece): Piece[] {
  if (closes) return [tail, last, form];
  return needs === 'tail' ? [last, form, tail] : [tail];
}

const gluedBits = 1.3;
const glued: SecretStyle = { last: nothing, first: nothing, end: nothing, bits: gluedBits };
const gluedBySeparators = [
  glued,
  ...separators.map(({ value, bits }) => setOff(literal(value), bits + 2.5 + gluedBits)),
];

/** Separators between the secret and the rest: the joiner of the rest, or nothing; where the rest has none, any. */
function gluedStyles(joiner: string): readonly SecretStyle[] {
  return joiner === ''
    ? gluedBySeparators
    : [setOff(literal(joiner), gluedBits), { ...glued, bits: gluedBits + 2 }];
}

/** The secret as one more pair, under one of the names, or separated as pairs are. */
function pairedStyles(names: readonly Choice<string>[], { kvSep, pairSep }: PairStyle): SecretStyle[] {
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

/** Maximum cost of a layout before its message is changed as a whole. */
const maxChangedBits = 10;

/** The cost of a secret that is in the layout, the block or the digest chain more than once, or nowhere. */
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

/** Layouts of one kind: without the secret, with the secret joined on, or with the secret as one more pair. */
export interface LayoutKind {
  /** Whether the layouts contain the secret. */
  readonly keyed: boolean;
  /** The layouts around a block with this change, in a message with this change. */
  readonly around: (block: BlockChange) => (message: MessageChange) => LazyList<LayoutText>;
}

export function layoutKinds(space: SearchSpace) {
  const { forms, secretNames } = space;
  const places = memoize((encoded: boolean) => surroundings(space, encoded, maxLayoutBits));
  const kind = (keyed: boolean, make: MakeLayouts): LayoutKind => {
    const all = memoize((encoded: boolean) => layoutTexts(places(encoded), make));
    const around = memoize((block: BlockChange) => {
      const list = all(block.encode === 'rfc3986');
      const possible = block.digests
        ? list.map(maxLayoutBits, (layout) => (layout.layout.bare ? null : layout))
        : list;
      return memoize((message: MessageChange) => changeLayouts(possible, message));
    });
    return { keyed, around };
  };
  const withSecret = (stylesBeside: StylesBeside) =>
    kind(true, (around, range, take) => keyedLayouts({ around, stylesBeside, forms }, range, take));
  return {
    open: kind(false, openLayouts),
    glued: withSecret(gluedStyles),
    paired: memoize((style: PairStyle) => {
      // Most searches end before they need the names in every style.
      const styles = memoize((names: readonly Choice<string>[]) => pairedStyles(names, style));
      return withSecret(() => styles(secretNames));
    }),
  };
}

type MakeLayouts = (
  around: readonly Surroundings[],
  range: CostRange,
  take: (layout: Layout) => void,
) => void;

function layoutTexts(around: readonly Surroundings[], make: MakeLayouts): LazyList<LayoutText> {
  const key = ({ before, after }: LayoutText) => `${before}\0${after}`;
  return new LazyList<LayoutText>(maxLayoutBits, key, (from, to, add) => {
    make(around, { from, to }, (layout) => {
      add({ before: textOf(layout.before), after: textOf(layout.after), layout }, layout.bits);
    });
  });
}

function changeLayouts(list: LazyList<LayoutText>, { changes, apply }: MessageChange): LazyList<LayoutText> {
  if (!changes) return list;
  return list.map(maxChangedBits, ({ before, after, layout }) => ({
    before: apply(before),
    after: apply(after),
    layout,
  }));
}
