import { PackedTexts } from '../lanes/packed-texts.js';
import type { GrowingList } from '../space/growing-list.js';
import type { LayoutText } from '../space/layout-lists.js';

/** The texts of layouts. */
interface PackedLayouts {
  readonly befores: PackedTexts;
  readonly afters: PackedTexts;
}

/** The texts of a list, as bytes. */
export const packedTexts = onceFor((list: GrowingList<string>) => {
  return new PackedTexts((index) => list.items[index] ?? '');
});

export const packedLayouts = onceFor((list: GrowingList<LayoutText>): PackedLayouts => {
  return {
    befores: new PackedTexts((index) => list.items[index]?.before ?? ''),
    afters: new PackedTexts((index) => list.items[index]?.after ?? ''),
  };
});

/** What is made for a list goes when the list goes. */
function onceFor<A extends object, T>(make: (list: A) => T): (list: A) => T {
  const made = new WeakMap<A, T>();
  return (list) => {
    const known = made.get(list);
    if (known !== undefined) return known;
    const result = make(list);
    made.set(list, result);
    return result;
  };
}
