import type { SolveTask } from '../tasks.js';
import { type MessageChange, messageChanges } from './block-changes.js';
import type { Chain } from './chains.js';
import { type Choice, choice, choices, distinctBy, sortByBits, type Weighted } from './cost.js';
import { labelledHeader } from './header-values.js';
import { type Item, itemsIn } from './items.js';
import { literal, nothing, type Piece, separators } from './pieces.js';
import type { SearchSpace } from './search-space.js';
import type { Grouped } from './visit-lists.js';

/** The cost of a message without a parameter block, in bits. */
export const listBits = 2;

/** Maximum cost of a list, without its joiner and its changes; and of one that holds all that hints name. */
export const maxListBits = 16;
export const maxHintedBits = 36;

/** The possible items of a list, each with the cost of choosing it; of headers that hints name, only these. */
export function listItems(space: SearchSpace, { items }: HintedItems): Grouped<Item>[] {
  const { pieces, task } = space;
  const unnamed = task.hints?.headers === undefined ? pieces : { ...pieces, extras: [], extraLists: [] };
  return distinctBy<Grouped<Item>>(
    [
      ...itemsIn('list', { ...space, pieces: unnamed }),
      ...items,
      ...labelOf(task).map((label) => choice([label], 3)),
    ],
    ({ value }) => value.map(({ text }) => text).join('\0'),
  );
}

/** What hints name: a list has to have all of it. */
export interface HintedItems {
  /** The headers, each alone or behind its name, and the constants. */
  readonly items: readonly Grouped<Item>[];
  /** Whether the headers in a list, or in its beginning, are in the order of the hints. */
  readonly isOrdered: (list: readonly Item[]) => boolean;
  /** Whether a list has all that the hints name. */
  readonly isWhole: (list: readonly Item[]) => boolean;
  /** Number of headers and constants that they name. */
  readonly count: number;
}

export function hintedItems({ task }: SearchSpace): HintedItems {
  const { headers = [], constants = [] } = task.hints ?? {};
  const named = headers.map((name) => labelledHeader(task.request, name)).filter(({ length }) => length > 0);
  const hinted = [...named, ...constants.map((text) => [choice<Item>([literal(text)], 0)])];
  const indexes = new Map(hinted.flatMap((choices, index) => choices.map(({ value }) => [value, index])));
  const indexesIn = (list: readonly Item[]) => list.flatMap((item) => indexes.get(item) ?? []);
  return {
    items: hinted.flatMap((choices, index) => choices.map((item) => ({ ...item, group: `hint ${index}` }))),
    count: hinted.length,
    isOrdered: (list) =>
      indexesIn(list)
        .filter((index) => index < named.length)
        .every((index, place) => index === place),
    isWhole: (list) => indexesIn(list).length === hinted.length,
  };
}

/** The word before the digest in a signature such as `v0=…`, which some messages begin with too. */
function labelOf({ signature }: SolveTask): Piece[] {
  const [, label] = /^([a-z][\w-]{0,11})[=: ](?=[\w+/-]{16})/i.exec(signature) ?? [];
  return label === undefined ? [] : [literal(label)];
}

/** Puts the secret into a list; null where a list of this length has no such place. */
type SecretPlace = <T>(parts: readonly T[], secret: T) => readonly T[] | null;

const nowhere: SecretPlace = (parts) => parts;
const beforePart =
  (index: number): SecretPlace =>
  (parts, secret) =>
    index < parts.length ? parts.toSpliced(index, 0, secret) : null;

const places = choices<SecretPlace>(
  [0.5, (parts, secret) => [...parts, secret]],
  [2.2, (parts, secret) => [secret, ...parts]],
  [3.5, beforePart(1)],
  [4, beforePart(2)],
  [4.5, (parts, secret) => [secret, ...parts, secret], beforePart(3)],
  [6, beforePart(4)],
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
export function finishesOf({ forms, chains, task, pieces }: SearchSpace, bound: number): Finish[] {
  const known = task.hints?.join;
  const usual = pieces.extras.length > 0 ? headerJoiners : listJoiners;
  const joiners = known === undefined ? usual : [choice(known, 0.7)];
  const finishes: Finish[] = [];
  for (const chain of chains) {
    for (const change of messageChanges) {
      for (const { value: joiner, bits: joinerBits } of joiners) {
        for (const { value: place, bits: placeBits } of secretPlaces(chain.keyed)) {
          const bits = chain.bits + change.bits + joinerBits + placeBits;
          if (bits > bound) break;
          for (const form of place === nowhere ? [nothing] : forms) {
            if (bits + form.bits > bound) break;
            finishes.push({ form, place, joiner, change, chain, bits: bits + form.bits });
          }
        }
      }
    }
  }
  return sortByBits(finishes);
}

/** The places of the secret, depending on whether the chain contains it too, the likeliest first. */
function secretPlaces(keyedChain: boolean): Choice<SecretPlace>[] {
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
