import { type MessageChange, messageChanges } from './block-changes.js';
import type { Chain } from './chains.js';
import { type Choice, choice, choices, sortByBits, type Weighted } from './cost.js';
import { fuse, literal, nothing, type Piece, separators } from './pieces.js';
import type { SearchSpace } from './search-space.js';

/** The cost of a message without a parameter block, in bits. */
export const listBits = 2;

/**
 * Maximum cost of a list, without its joiner and its changes: where there are headers, which rules sign in long lists,
 * and of a list that holds all that hints name.
 */
export const maxListBits = 16;
export const maxHeaderBits = 20;
export const maxHintedBits = 36;

/** Puts the secret into a list; null where a list of this length has no such place. */
type SecretPlace = <T>(
  parts: readonly T[],
  secret: T,
  together: (one: T, other: T) => T,
) => readonly T[] | null;

const nowhere: SecretPlace = (parts) => parts;
const beforePart =
  (index: number): SecretPlace =>
  (parts, secret) =>
    index < parts.length ? parts.toSpliced(index, 0, secret) : null;

const usualPlaces = choices<SecretPlace>(
  [0.5, (parts, secret) => [...parts, secret]],
  [2.2, (parts, secret) => [secret, ...parts]],
  [3.5, beforePart(1)],
  [4, beforePart(2)],
  [4.5, (parts, secret) => [secret, ...parts, secret], beforePart(3)],
  [6, beforePart(4)],
  [6.5, beforePart(5), beforePart(6), beforePart(7), beforePart(8)],
);

/** Where a document names what joins the parts: the secret may be there without it. */
const gluedPlaces = choices<SecretPlace>(
  [
    3,
    (parts, secret, together) =>
      parts.map((part, index) => (index < parts.length - 1 ? part : together(part, secret))),
  ],
  [4, (parts, secret, together) => parts.map((part, index) => (index > 0 ? part : together(secret, part)))],
);

/** The way from a list to a digest. */
export interface Finish extends Weighted {
  /** The text in the place of the secret. */
  readonly form: Piece;
  readonly place: SecretPlace;
  readonly joiner: string;
  readonly change: MessageChange;
  readonly chain: Chain;
}

/** The ways to turn a list into a digest that cost at most `bound`, the likeliest first. */
export function finishesOf(
  { forms, secretNames, chains, task, pieces }: SearchSpace,
  bound: number,
): Finish[] {
  const known = task.hints?.join;
  const usual = pieces.extras.length > 0 ? headerJoiners : listJoiners;
  const joiners = known === undefined ? usual : [choice(known, 0.7)];
  const places = [...usualPlaces, ...(known ? gluedPlaces : [])];
  const named = known === undefined ? [] : secretNames.flatMap((name) => namedSecret(forms[0], name));
  const all = sortByBits([...forms, ...named]);
  const finishes: Finish[] = [];
  for (const chain of chains) {
    const ways = secretPlaces(places, chain.keyed);
    for (const change of messageChanges) {
      for (const { value: joiner, bits: joinerBits } of joiners) {
        for (const { value: place, bits: placeBits } of ways) {
          const bits = chain.bits + change.bits + joinerBits + placeBits;
          if (bits > bound) break;
          for (const form of place === nowhere ? [nothing] : all) {
            if (bits + form.bits > bound) break;
            finishes.push({ form, place, joiner, change, chain, bits: bits + form.bits });
          }
        }
      }
    }
  }
  return sortByBits(finishes);
}

/** The secret as a pair of its own in the message. */
function namedSecret(plain: Piece | undefined, { value, bits }: Choice<string>): Piece[] {
  return plain === undefined ? [] : [{ ...fuse(literal(`${value}=`), plain), bits: bits + 3 }];
}

/** The places of the secret, depending on whether the chain contains it too, the likeliest first. */
function secretPlaces(places: readonly Choice<SecretPlace>[], keyedChain: boolean): Choice<SecretPlace>[] {
  return sortByBits([
    choice(nowhere, keyedChain ? 0.3 : 7),
    ...places.map(({ value, bits }) => choice(value, keyedChain ? bits + 3 : bits)),
  ]);
}

const listJoiners: readonly Choice<string>[] = [
  choice('', 0.7),
  ...separators.map(({ value, bits }) => choice(value, bits + 1.3)),
];

/** Signed headers are lines more often than values of parameters are. */
const headerJoiners = sortByBits(
  listJoiners.map((joiner) => (joiner.value === '\n' ? choice('\n', 2) : joiner)),
);
