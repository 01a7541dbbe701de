import { type MessageChange, messageChanges } from '../candidates/block-changes.js';
import type { Chain } from '../candidates/chains.js';
import {
  type Choice,
  type CostRange,
  choice,
  choices,
  firstFrom,
  lessSpent,
  sortByBits,
  type Weighted,
} from '../candidates/cost.js';
import { hintedItems, listItems } from '../candidates/hinted-items.js';
import { fuse, literal, nothing, type Piece, separators } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { visitLists } from '../candidates/visit-lists.js';
import { isHinted } from '../tasks.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Fits } from './compiled-chain.js';
import type { Share, Work } from './shares.js';

/** The cost of a message without a parameter block, in bits. */
const listBits = 2;

/**
 * Maximum cost of a list, without its joiner and its changes: where there are headers, which rules
 * sign in long lists, and of a list that holds all that hints name.
 */
const maxListBits = 16;
const maxHeaderBits = 20;
const maxHintedBits = 36;

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
  [
    4,
    (parts, secret, together) =>
      parts.map((part, index) => (index > 0 ? part : together(secret, part))),
  ],
);

/** The way from a list to a digest. */
interface Finish extends Weighted {
  /** The text in the place of the secret. */
  readonly form: Piece;
  readonly place: SecretPlace;
  readonly joiner: string;
  readonly change: MessageChange;
  readonly chain: Chain;
}

/** The ways to turn a list into a digest that cost at most `bound`, the likeliest first. */
function finishesOf(
  { forms, secretNames, chains, task, pieces }: SearchSpace,
  bound: number,
): Finish[] {
  const known = task.hints?.join;
  const usual = pieces.extras.length > 0 ? headerJoiners : listJoiners;
  const joiners = known === undefined ? usual : [choice(known, 0.7)];
  const places = [...usualPlaces, ...(known ? gluedPlaces : [])];
  const named =
    known === undefined ? [] : secretNames.flatMap((name) => namedSecret(forms[0], name));
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

/**
 * The places of the secret, depending on whether the chain contains it too, the likeliest first.
 */
function secretPlaces(
  places: readonly Choice<SecretPlace>[],
  keyedChain: boolean,
): Choice<SecretPlace>[] {
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

/** Maximum cost of the way from a list to a digest, and where a document names the digests. */
const maxFinishBits = 15;
const maxHintedFinishBits = 20;
/** The cost of a list without items. */
const emptyBits = 7;

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed
 * order, and the secret.
 */
export function listSearch(
  space: SearchSpace,
  fitsOf: (chain: Chain) => Fits,
): (share: Share, work: Work) => void {
  const hinted = hintedItems(space);
  const { isOnce, isWhole, count } = hinted;
  const items = listItems(space, hinted);
  const usual = space.pieces.extras.length > 0 ? maxHeaderBits : maxListBits;
  const bound = isHinted(space.task) ? maxHintedBits : usual;
  const isNamed = space.task.hints?.steps !== undefined;
  const finishes = finishesOf(space, isNamed ? maxHintedFinishBits : maxFinishBits);
  // Digests that a document names may be of another length than the signature.
  if (finishes.length === 0) return () => {};
  return (share, work) => {
    const { part, parts, to } = share;
    const maxBits = Math.min(bound, to - listBits - (finishes[0]?.bits ?? 0));
    // An empty message, where the key holds everything.
    const spent = listBits + emptyBits;
    if (part === 0 && count === 0)
      tryList([], finishes, fitsOf, spent, lessSpent(share, spent), work);
    let branch = 0;
    visitLists(items, maxBits, (list, bits) => {
      work.look();
      if (work.isDone || !isOnce(list)) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      if (isWhole(list))
        tryList(
          labelled(list.flat()),
          finishes,
          fitsOf,
          listBits + bits,
          lessSpent(share, listBits + bits),
          work,
        );
      return true;
    });
  };
}

/** The pieces, each label glued to what is behind it. */
function labelled(list: readonly Piece[]): readonly Piece[] {
  const parts: Piece[] = [];
  for (const piece of list) {
    const last = parts.at(-1);
    if (last?.leads) parts[parts.length - 1] = fuse(last, piece);
    else parts.push(piece);
  }
  return parts;
}

function tryList(
  list: readonly Piece[],
  finishes: readonly Finish[],
  fitsOf: (chain: Chain) => Fits,
  spent: number,
  { from, to }: CostRange,
  work: Work,
): void {
  const texts = list.map(({ text }) => text);
  for (let index = firstFrom(finishes, from); index < finishes.length && !work.isCut; index++) {
    const { form, place, joiner, change, chain, bits } = finishes[index] as Finish;
    if (bits >= to) return;
    const parts = place(texts, form.text, (one, other) => one + other);
    if (parts === null) continue;
    const text = parts.join(joiner);
    const message = change.apply(text);
    if (change.changes && message === text) continue;
    work.count();
    if (!fitsOf(chain)(message)) continue;
    const recipe = assembleRecipe({
      params: {},
      message: place(list, form, fuse) ?? [],
      join: joiner,
      block: 'none',
      change,
      chain,
    });
    if (recipe === null) continue;
    work.hit = { recipe, bits: bits + spent };
    return;
  }
}
