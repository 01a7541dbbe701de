import { type MessageChange, messageChanges } from '../candidates/block-changes.js';
import type { Piece } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  listBits,
  listItems,
  listJoiners,
  maxListBits,
  placeSecret,
  type SecretPlace,
  secretPlaces,
  visitLists,
} from '../candidates/value-lists.js';
import type { Choice } from '../candidates/weighted.js';
import { assembleRecipe, type RecipeCandidate } from './assemble-recipe.js';
import type { Target } from './blocks.js';

/** Finds every recipe without a parameter block that gives a message. */
export function reconstructLists(
  space: SearchSpace,
  target: Target,
  add: (candidate: RecipeCandidate) => void,
): void {
  const { message, chains, bound } = target;
  const items = listItems(space.pieces, space.hasBody);
  for (const chain of chains) {
    for (const change of messageChanges) {
      if (!change.canYield(message)) continue;
      const possible = space.forms.filter(({ text }) => message.includes(change.apply(text)));
      for (const joiner of listJoiners) {
        if (!message.includes(change.apply(joiner.value))) continue;
        for (const place of secretPlaces(chain.keyed)) {
          const bits = listBits + chain.bits + change.bits + joiner.bits + place.bits;
          if (bits >= bound) break;
          for (const form of place.value === 'none' ? [null] : possible) {
            const total = bits + (form?.bits ?? 0);
            if (total >= bound) break;
            const list = { items, place: place.value, form, joiner: joiner.value, change };
            visitMatchingLists(list, message, bound - total, (pieces, listed) => {
              const recipe = assembleRecipe({
                params: {},
                message: pieces,
                join: joiner.value,
                block: 'none',
                change,
                chain,
              });
              if (recipe !== null) add({ recipe, bits: total + listed });
            });
          }
        }
      }
    }
  }
}

interface ListShape {
  readonly items: readonly Choice<readonly Piece[]>[];
  readonly place: SecretPlace;
  readonly form: Piece | null;
  readonly joiner: string;
  readonly change: MessageChange;
}

/** Finds the lists that give the message, part by part from its beginning. */
function visitMatchingLists(
  { items, place, form, joiner, change }: ListShape,
  message: string,
  bound: number,
  add: (pieces: readonly Piece[], bits: number) => void,
): void {
  const secret = form ?? { tokens: [], text: '', bits: 0 };
  const write = (pieces: readonly Piece[]) => change.apply(pieces.map(({ text }) => text).join(joiner));
  visitLists(items, Math.min(bound, maxListBits), (list, bits) => {
    const pieces = list.flat();
    const whole = placeSecret(pieces, place, secret);
    if (whole !== null && write(whole) === message) add(whole, bits);
    const beginning = place === 'end' ? pieces : place === 'both' ? [secret, ...pieces] : (whole ?? pieces);
    return message.startsWith(write(beginning));
  });
}
