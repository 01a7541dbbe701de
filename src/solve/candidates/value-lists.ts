import type { SolveTask } from '../tasks.js';
import { type MessageChange, messageChanges } from './block-changes.js';
import type { Chain } from './chains.js';
import { type Choice, choice, choices, distinctBy, sortByBits, type Weighted } from './cost.js';
import { literal, nothing, type Piece, percentEncoded, separators, textOf } from './pieces.js';
import type { SearchSpace } from './search-space.js';

/** The cost of a message without a parameter block, in bits. */
export const listBits = 2;

/** Maximum cost of a list, without its joiner and its changes; and of one that holds all that hints name. */
export const maxListBits = 16;
export const maxHintedBits = 36;

/** One item of a list: a value, or several parts that go together, such as the method and the path. */
export type ListItem = readonly Piece[];

/** The possible items of a list, each with the cost of choosing it. An empty text is not searched for. */
export function listItems({ pieces, hasBody, task }: SearchSpace): Choice<ListItem>[] {
  const { method, path, url, host, query, bodies, shortPaths, values, extras } = pieces;
  const items: Choice<ListItem>[] = [
    ...values.map((value) => choice([value], value.bits + 0.5)),
    ...hintedItems(pieces, task).map((item) => choice(item, 0)),
    ...(task.hints?.headers === undefined ? extras : []).map((extra) => choice([extra], extra.bits + 0.8)),
    ...labelOf(task).map((label) => choice([label], 3)),
    choice([path], 4),
    choice([method], 5),
    choice([url], 4.5),
    choice([host], 6.5),
    choice([query], 6),
    choice([method, path], 4.5),
    choice([method, url], 4.5),
    choice([method, host, path], 6),
    ...bodies.map((body) => choice([body], body.bits + (hasBody ? 2 : 7))),
    ...shortPaths.map((short) => choice([short], short.bits + 5)),
    ...[path, url].map((part) => choice([percentEncoded(part)], 8)),
  ];
  return distinctBy(
    items.filter(({ value }) => value.every(({ text }) => text !== '')),
    ({ value }) => textOf(value),
  );
}

/** The headers that hints name, in order, then the constants: a list has to have all of them. */
function hintedItems({ extras }: SearchSpace['pieces'], { hints = {} }: SolveTask): ListItem[] {
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
  readonly isOrdered: (list: readonly ListItem[]) => boolean;
  /** Whether a list has all that the hints name. */
  readonly isWhole: (list: readonly ListItem[]) => boolean;
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

/** The place of the secret in a list: at the end, at the start, both, before the part with this index, or nowhere. */
type SecretPlace = 'end' | 'start' | 'both' | 'none' | number;

const places = choices<SecretPlace>([0.5, 'end'], [2.2, 'start'], [3.5, 1], [4, 2], [4.5, 'both', 3], [6, 4]);

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
export function finishesOf({ forms, chains, task }: SearchSpace, bound: number): Finish[] {
  const known = task.hints?.join;
  const joiners = known === undefined ? listJoiners : [choice(known, 0.7)];
  const finishes: Finish[] = [];
  for (const chain of chains) {
    for (const change of messageChanges) {
      for (const { value: joiner, bits: joinerBits } of joiners) {
        for (const { value: place, bits: placeBits } of secretPlaces(chain.keyed)) {
          const bits = chain.bits + change.bits + joinerBits + placeBits;
          if (bits > bound) break;
          for (const form of place === 'none' ? [nothing] : forms) {
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
    choice('none', keyedChain ? 0.3 : 7),
    ...places.map(({ value, bits }) => choice(value, keyedChain ? bits + 3 : bits)),
  ]);
}

const listJoiners: readonly Choice<string>[] = [
  choice('', 0.7),
  ...separators.map(({ value, bits }) => choice(value, bits + 1.3)),
];

/** The parts in order with the secret in its place; null where a list of this length has no such place. */
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
