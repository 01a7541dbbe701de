import type { SolveTask } from '../tasks.js';
import { type MessageChange, messageChanges } from './block-changes.js';
import type { Chain } from './chains.js';
import { type Choice, choice, choices, distinctBy, sortByBits, type Weighted } from './cost.js';
import { type Item, itemsIn } from './items.js';
import { literal, nothing, type Piece, separators, textOf } from './pieces.js';
import type { SearchSpace } from './search-space.js';
import type { Grouped } from './visit-lists.js';

/** The cost of a message without a parameter block, in bits. */
export const listBits = 2;

/** Maximum cost of a list, without its joiner and its changes; and of one that holds all that hints name. */
export const maxListBits = 16;
export const maxHintedBits = 36;

/** The possible items of a list, each with the cost of choosing it; of headers that hints name, only these. */
export function listItems(space: SearchSpace): Grouped<Item>[] {
  const { pieces, task } = space;
  const unnamed = task.hints?.headers === undefined ? pieces : { ...pieces, extras: [], extraLists: [] };
  return distinctBy<Grouped<Item>>(
    [
      ...itemsIn('list', { ...space, pieces: unnamed }),
      ...hintedItems(pieces, task).map((item) => choice(item, 0)),
      ...labelOf(task).map((label) => choice([label], 3)),
    ],
    ({ value }) => value.map(({ text }) => text).join('\0'),
  );
}

/** The headers that hints name, in order, then the constants: a list has to have all of them. */
function hintedItems({ extras }: SearchSpace['pieces'], { hints = {} }: SolveTask): Item[] {
  const { headers = [], constants = [] } = hints;
  const isNamed = (name: string) => (piece: Piece) =>
    piece.tokens.join('').replace(/[{}]/g, '').toLowerCase() === `$extra:${name}`.toLowerCase();
  return [
    ...headers.flatMap((name) => extras.filter(isNamed(name)).map((piece) => [piece])),
    ...constants.map((text) => [literal(text)]),
  ];
}

/** What hints ask of a list. */
export interface HintCheck {
  /** Whether the headers in a list, or in its beginning, are in the order of the hints. */
  readonly isOrdered: (list: readonly Item[]) => boolean;
  /** Whether a list has all that the hints name. */
  readonly isWhole: (list: readonly Item[]) => boolean;
  /** Number of headers and constants that they name. */
  readonly count: number;
}

export function hintCheck({ pieces, task }: SearchSpace): HintCheck {
  const texts = hintedItems(pieces, task).map(textOf);
  const headers = texts.slice(0, texts.length - (task.hints?.constants?.length ?? 0));
  return {
    count: texts.length,
    isOrdered: (list) => {
      const found = list.map(textOf).filter((text) => headers.includes(text));
      return found.every((text, index) => text === headers[index]);
    },
    isWhole: (list) => texts.every((text) => list.some((item) => textOf(item) === text)),
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
