import { type MessageChange, messageChanges } from './candidates/block-changes.js';
import { type Chain, chainIdentity } from './candidates/chains.js';
import { nothing, type Piece, percentEncoded, separators, textOf } from './candidates/pieces.js';
import type { SearchSpace } from './candidates/search-space.js';
import {
  type Choice,
  type CostRange,
  choice,
  choices,
  distinctBy,
  firstFrom,
  lessSpent,
  sortByBits,
  visitLists,
  type Weighted,
} from './candidates/weighted.js';
import { assembleRecipe, type RecipeCandidate } from './reconstruct/assemble-recipe.js';
import type { Target } from './reconstruct/blocks.js';
import type { Fits } from './search/compiled-chain.js';
import type { Share, Tally } from './search/search.js';

/** The cost of a message without a parameter block, in bits. */
const listBits = 2;

/** Maximum cost of a list, without its joiner and its changes. */
const maxListBits = 16;

/** One item of a list: a value, or several parts that go together, such as the method and the path. */
type ListItem = readonly Piece[];

/** The possible items of a list, each with the cost of choosing it. An empty text is not searched for. */
function listItems({ pieces, hasBody, isDistinct }: SearchSpace): Choice<ListItem>[] {
  const { method, path, url, host, bodies, shortPaths, values, extras } = pieces;
  const items: Choice<ListItem>[] = [
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
  if (!isDistinct) return items;
  return distinctBy(
    items.filter(({ value }) => value.every(({ text }) => text !== '')),
    ({ value }) => textOf(value),
  );
}

/** The place of the secret in a list: at the end, at the start, both, before the part with this index, or nowhere. */
type SecretPlace = 'end' | 'start' | 'both' | 'none' | number;

const places = choices<SecretPlace>([0.5, 'end'], [2.2, 'start'], [3.5, 1], [4, 2], [4.5, 'both', 3], [6, 4]);

/** How a list becomes a digest. */
interface Finish extends Weighted {
  /** The text in the place of the secret. */
  readonly form: Piece;
  readonly place: SecretPlace;
  readonly joiner: string;
  readonly change: MessageChange;
  readonly chain: Chain;
}

/** The ways to turn a list into a digest that cost at most `bound`, the likeliest first. */
function finishesOf(forms: readonly Piece[], chains: readonly Chain[], bound: number): Finish[] {
  const finishes: Finish[] = [];
  for (const chain of chains) {
    for (const change of messageChanges) {
      for (const { value: joiner, bits: joinerBits } of listJoiners) {
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

/** The places of the secret, depending on whether the chain holds it too, the likeliest first. */
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
function placeSecret<T>(parts: readonly T[], place: SecretPlace, secret: T): readonly T[] | null {
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

const maxFinishBits = 15;

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed order, and the
 * secret.
 */
export function listSearch(
  space: SearchSpace,
  fitsOf: (chain: Chain) => Fits,
): (share: Share, tally: Tally) => void {
  const items = listItems(space).map(({ value, bits }) =>
    choice(
      value.map(({ text }) => text),
      bits,
    ),
  );
  const finishes = finishesOf(space.forms, space.chains, maxFinishBits);
  return (share, tally) => {
    const { part, parts, to } = share;
    const maxBits = Math.min(maxListBits, to - listBits - (finishes[0]?.bits ?? 0));
    let branch = 0;
    visitLists(items, maxBits, (list, bits) => {
      if (tally.hit !== null) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      tryList(list.flat(), finishes, fitsOf, listBits + bits, lessSpent(share, listBits + bits), tally);
      return true;
    });
  };
}

function tryList(
  list: readonly string[],
  finishes: readonly Finish[],
  fitsOf: (chain: Chain) => Fits,
  spent: number,
  { from, to }: CostRange,
  tally: Tally,
): void {
  for (let index = firstFrom(finishes, from); index < finishes.length; index++) {
    const { form, place, joiner, change, chain, bits } = finishes[index] as Finish;
    if (bits >= to) return;
    const parts = placeSecret(list, place, form.text);
    if (parts === null) continue;
    const text = parts.join(joiner);
    const message = change.apply(text);
    if (change.changes && message === text) continue;
    tally.tried += 1;
    if (!fitsOf(chain)(message)) continue;
    tally.hit = { message, bits: bits + spent, chain: chainIdentity(chain) };
    return;
  }
}

/** Finds every recipe without a parameter block that gives a message. */
export function reconstructLists(
  space: SearchSpace,
  { message, chains, bound }: Target,
  add: (candidate: RecipeCandidate) => void,
): void {
  const items = listItems(space);
  const possible = messageChanges.filter(({ canYield }) => canYield(message));
  const forms = space.forms.filter(({ text }) => possible.some(({ apply }) => message.includes(apply(text))));
  for (const finish of finishesOf(forms, chains, bound - listBits)) {
    const { form, joiner, change, chain, bits } = finish;
    const isHeld = (text: string) => message.includes(change.apply(text));
    if (!possible.includes(change) || !isHeld(joiner) || !isHeld(form.text)) continue;
    const spent = listBits + bits;
    visitMatchingLists(items, finish, message, bound - spent, (pieces, listed) => {
      const parts = { params: {}, message: pieces, join: joiner, block: 'none', change, chain } as const;
      const recipe = assembleRecipe(parts);
      if (recipe !== null) add({ recipe, bits: spent + listed });
    });
  }
}

/** Finds the lists that give the message, part by part from its beginning. */
function visitMatchingLists(
  items: readonly Choice<ListItem>[],
  { form, place, joiner, change }: Finish,
  message: string,
  bound: number,
  add: (pieces: readonly Piece[], bits: number) => void,
): void {
  const write = (pieces: readonly Piece[]) => change.apply(pieces.map(({ text }) => text).join(joiner));
  visitLists(items, Math.min(bound, maxListBits), (list, bits) => {
    const pieces = list.flat();
    const whole = placeSecret(pieces, place, form);
    if (whole !== null && write(whole) === message) add(whole, bits);
    const beginning = place === 'end' ? pieces : place === 'both' ? [form, ...pieces] : (whole ?? pieces);
    return message.startsWith(write(beginning));
  });
}
