import { literal, nothing, type Piece } from './pieces.js';
import { separators } from './separators.js';
import { byJoiner, type Surroundings } from './surroundings.js';
import { type Choice, firstFrom, type PriceRange, sortByBits, type Weighed } from './weighted.js';

/** What stands before and after the parameter block. */
export interface Layout extends Weighed {
  readonly before: readonly Piece[];
  readonly after: readonly Piece[];
  /** Whether the secret is in it. */
  readonly keyed: boolean;
  /** Whether there is nothing in it but the secret. */
  readonly bare: boolean;
}

/** How a block writes a pair: the secret as one more pair is written so too. */
export interface PairStyle {
  readonly kvSep: string;
  readonly pairSep: string;
}

/** What sets the secret off from the rest. */
export interface SecretStyle extends Weighed {
  /** Before it, where something stands before it: `&key=`. */
  readonly last: Piece;
  /** Before it, where it comes first: `key=`. */
  readonly first: Piece;
  /** After it, where something follows: `&`. */
  readonly end: Piece;
}

/** The layouts without a secret. */
export function openLayouts(
  around: readonly Surroundings[],
  { from, to }: PriceRange,
  take: (layout: Layout) => void,
): void {
  for (const { front, tail, bare, bits } of around) {
    if (bits >= to) return;
    if (bits >= from) take({ before: [front], after: [tail], keyed: false, bare, bits });
  }
}

/** Tells whether a layout may be wanted in which the secret stands so, whatever is around it. */
export type Admit = (spot: Spot, style: SecretStyle, form: Piece) => boolean;

/** How the secret is set off beside what is joined so. */
export type StylesBeside = (joiner: string) => readonly SecretStyle[];

/** What layouts with the secret are made of. */
export interface KeyedParts {
  readonly around: readonly Surroundings[];
  readonly stylesBeside: StylesBeside;
  /** What stands for the secret. */
  readonly forms: readonly Piece[];
  readonly admit: Admit;
}

/** The layouts with the secret. */
export function keyedLayouts(parts: KeyedParts, range: PriceRange, take: (layout: Layout) => void): void {
  const { around, stylesBeside, forms, admit } = parts;
  for (const [joiner, places] of byJoiner(around)) {
    const least = places[0]?.bits ?? 0;
    for (const style of stylesBeside(joiner)) {
      if (least + style.bits >= range.to) break;
      for (const form of forms) {
        if (least + style.bits + form.bits >= range.to) break;
        for (const spot of spots) {
          if (admit(spot, style, form)) layAround(places, spot, style, form, range, take);
        }
      }
    }
  }
}

/** Sums of prices are no farther apart than this, whatever is added first. */
const roundingBits = 1e-6;

function layAround(
  places: readonly Surroundings[],
  { lay, needs, bits: ofSpot }: Spot,
  style: SecretStyle,
  form: Piece,
  { from, to }: PriceRange,
  take: (layout: Layout) => void,
): void {
  const ofSecret = style.bits + form.bits + ofSpot;
  for (let index = firstFrom(places, from - ofSecret - roundingBits); index < places.length; index++) {
    const place = places[index] as Surroundings;
    const bits = place.bits + ofSecret;
    if (bits >= to) return;
    if (bits < from || (needs !== null && place[needs] === nothing)) continue;
    const { before, after } = lay(place, style, form);
    take({ before, after, keyed: true, bare: place.bare, bits });
  }
}

/** Where the secret can be put. */
export interface Spot extends Weighed {
  /** Whether the message begins with it, whether it ends with it. */
  readonly opens: boolean;
  readonly closes: boolean;
  /** What there must be, so that it is not the same as another spot. */
  readonly needs: 'front' | 'tail' | null;
  readonly lay: (place: Surroundings, style: SecretStyle, form: Piece) => Pick<Layout, 'before' | 'after'>;
}

const spots: readonly Spot[] = [
  {
    bits: 0,
    opens: false,
    closes: true,
    needs: null,
    lay: ({ front, tail }, { last }, form) => ({ before: [front], after: [tail, last, form] }),
  },
  {
    bits: 2,
    opens: true,
    closes: false,
    needs: null,
    lay: ({ front, tail }, { first, end }, form) => ({ before: [first, form, end, front], after: [tail] }),
  },
  {
    bits: 2.9,
    opens: true,
    closes: true,
    needs: null,
    lay: ({ front, tail }, { first, last, end }, form) => ({
      before: [first, form, end, front],
      after: [tail, last, form],
    }),
  },
  {
    bits: 2.9,
    opens: false,
    closes: false,
    needs: 'tail',
    lay: ({ front, tail }, { last }, form) => ({ before: [front], after: [last, form, tail] }),
  },
  {
    bits: 3.5,
    opens: false,
    closes: false,
    needs: 'front',
    lay: ({ front, tail }, { first, end }, form) => ({ before: [front, first, form, end], after: [tail] }),
  },
];

const gluedBits = 1.3;
const glued: SecretStyle = { last: nothing, first: nothing, end: nothing, bits: gluedBits };
const gluedBySeparators = [
  glued,
  ...separators.map(({ value, bits }) => setOff(literal(value), bits + 2.5 + gluedBits)),
];

/** What may stand between the secret and the rest: what joins the rest, or else nothing; beside nothing, anything. */
export function gluedStyles(joiner: string): readonly SecretStyle[] {
  return joiner === ''
    ? gluedBySeparators
    : [setOff(literal(joiner), gluedBits), { ...glued, bits: gluedBits + 2 }];
}

/** The secret as one more pair, under one of the names, or set off as pairs are. */
export function pairedStyles(names: readonly Choice<string>[], { kvSep, pairSep }: PairStyle): SecretStyle[] {
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
