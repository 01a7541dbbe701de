import { messageChanges } from '../candidates/block-changes.js';
import { canonicalLists } from '../candidates/canonical-lists.js';
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
  const canonical = canonicalLists(space);
  const possible = messageChanges.filter(({ canYield }) => canYield(message));
  const forms = space.forms.filter(({ text }) => possible.some(({ apply }) => message.includes(apply(text))));
  for (const finish of finishesOf(forms, chains, bound - listBits)) {
    const { form, joiner, change, chain, bits } = finish;
    const isInMessage = (text: string) => message.includes(change.apply(text));
    if (!possible.includes(change) || !isInMessage(joiner) || !isInMessage(form.text)) continue;
    const spent = listBits + bits;
    const addList = (pieces: readonly Piece[], listed: number) => {
      const parts = { params: {}, message: pieces, join: joiner, block: 'none', change, chain } as const;
      const recipe = assembleRecipe(parts);
      if (recipe !== null) add({ recipe, bits: spent + listed });
    };
    for (const { value, bits: listed } of canonical) {
      const whole = spent + listed > bound ? null : placeSecret(value, finish.place, form);
      if (whole !== null && writeList(whole, finish) === message) addList(whole, listed);
    }
    visitMatchingLists(items, finish, message, bound - spent, addList);
  }
}

function writeList(pieces: readonly Piece[], { joiner, change }: Finish): string {
  return change.apply(pieces.map(({ text }) => text).join(joiner));
}

/** Finds the lists that give the message, part by part from its beginning. */
function visitMatchingLists(
  items: readonly Choice<ListItem>[],
  finish: Finish,
  message: string,
  bound: number,
  add: (pieces: readonly Piece[], bits: number) => void,
): void {
  const { form, place } = finish;
  const write = (pieces: readonly Piece[]) => writeList(pieces, finish);
  visitLists(items, Math.min(bound, maxListBits), (list, bits) => {
    const pieces = list.flat();
    const whole = placeSecret(pieces, place, form);
    if (whole !== null && write(whole) === message) add(whole, bits);
    const beginning = place === 'end' ? pieces : place === 'both' ? [form, ...pieces] : (whole ?? pieces);
    return message.startsWith(write(beginning));
  });
}
