import { messageChanges } from '../candidates/block-changes.js';
import type { Choice } from '../candidates/cost.js';
import type { Piece } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  type Finish,
  finishesOf,
  type ListItem,
  listBits,
  listItems,
  maxListBits,
  placeSecret,
} from '../candidates/value-lists.js';
import { visitLists } from '../candidates/visit-lists.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Target } from './target.js';

/** Finds every recipe without a parameter block that gives a message. */
export function reconstructLists(space: SearchSpace, { message, chains, bound, add }: Target): void {
  const items = listItems(space);
  const possible = messageChanges.filter(({ canYield }) => canYield(message));
  const forms = space.forms.filter(({ text }) => possible.some(({ apply }) => message.includes(apply(text))));
  for (const finish of finishesOf(forms, chains, bound - listBits)) {
    const { form, joiner, change, chain, bits } = finish;
    const isInMessage = (text: string) => message.includes(change.apply(text));
    if (!possible.includes(change) || !isInMessage(joiner) || !isInMessage(form.text)) continue;
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
