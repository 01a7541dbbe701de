import { type Choice, choice, combined, distinctBy } from './cost.js';
import { fuse, literal, type Piece, percentEncoded, textOf } from './pieces.js';
import type { SearchSpace } from './search-space.js';
import { type Grouped, visitLists } from './visit-lists.js';

/** A part of a message: a value, or several that go together, such as the method and the path. */
export type Item = readonly Piece[];

/** Where an item is: before or behind a block of parameters, or in a message without one. */
const places = ['front', 'tail', 'list'] as const;
export type ItemPlace = (typeof places)[number];

/** The costs are those in front of a block, behind one, and in a list. */
type Row = readonly [
  group: string | undefined,
  item: Choice<Item>,
  ...bits: readonly [number, number, number],
];

/** Too rare to be tried. */
const no = Number.POSITIVE_INFINITY;

/**
 * The items of a message, each with the cost of choosing it in a place, the likeliest first.
 * `isEncoded`: the block is percent-encoded as a whole; then so are the path and the URL. An item
 * without a text is not searched for.
 */
export function itemsIn(
  place: ItemPlace,
  { pieces, hasBody }: SearchSpace,
  isEncoded = false,
): Grouped<Item>[] {
  const { method, host, path, url, query, bodies, shortPaths, values, extras, extraLists } = pieces;
  /**
   * Where headers are signed and there are no parameters, method, path and body are signed, too.
   */
  const signed = extras.length === 0 || values.length > 0 ? 0 : 2;
  const bodyBits = hasBody ? 0 : 4.5;
  const encodedBits = isEncoded ? 0.5 : 4;
  const noBody: Piece = { tokens: ['$body'], text: '', bits: 0 };
  const paths: readonly Choice<Item>[] = [
    choice([path], 0),
    choice([percentEncoded(path)], encodedBits),
    ...shortPaths.map((short) => choice([short], short.bits + 2.5)),
    choice([url], 1),
    choice([percentEncoded(url)], encodedBits + 1),
  ];
  const inLists: readonly Choice<Item>[] = [
    choice([path, query], 1.5),
    choice([withQuery(path, query)], 1.5),
    choice([withQuery(url, query)], 2.5),
    ...(hasBody ? [] : [path, withQuery(path, query)].map((at) => choice([at, noBody], 3))),
  ];
  const leads = [
    choice<Item>([], 0),
    choice([method], 0.7),
    choice([host], 2.7),
    choice([method, host], 1.7),
  ];
  const targets = combined(leads, paths, (lead, at) => [...lead, ...at]);
  const listTargets = combined(leads, inLists, (lead, at) => [...lead, ...at]);
  const rows: readonly Row[] = [
    [undefined, choice([method], 0), 5, no, 5 - signed],
    [undefined, choice([host], 0), no, no, 6.5],
    [undefined, choice([query], 0), no, no, 6 - signed],
    ['target', choice([path], 0), no, 5.5, no],
    ...targets.map((target): Row => ['target', target, 3, no, 4 - signed]),
    ...[path, withQuery(path, query)].map(
      (at): Row => ['target', choice([fuse(method, literal(' '), at)], 2), no, no, 4 - signed],
    ),
    ...listTargets.map((target): Row => ['target', target, no, no, 4 - signed]),
    ...bodies.map(
      (body): Row => ['body', choice([body], body.bits + bodyBits), 4, 0.5, 2 - signed],
    ),
    ...values.map((value): Row => [undefined, choice([value], value.bits), 3, 3.5, 0.5]),
    ...extras.map((extra): Row => [undefined, choice([extra], extra.bits), 1, 1, 0.8]),
    ...extraLists.map((list): Row => ['headers', list, 1.5, 2, values.length === 0 ? 1 : 4]),
  ];
  const items = rows.map(([group, { value, bits }, ...more]) => ({
    value,
    bits: bits + (more[places.indexOf(place)] ?? no),
    ...(group !== undefined && { group }),
  }));
  return distinctBy(
    items.filter(({ value, bits }) => bits < no && textOf(value) !== ''),
    ({ value }) => value.map(({ text }) => text).join('\0'),
  );
}

function withQuery(path: Piece, query: Piece): Piece {
  const text = query.text === '' ? path.text : `${path.text}?${query.text}`;
  return { ...path, tokens: [`${path.tokens.join('')}$[?$query]`], text };
}

/** Sequences of items up to a cost; `none` is the cost of the empty one. */
export function sequences(
  items: readonly Grouped<Item>[],
  none: number,
  bound: number,
): Choice<Item>[] {
  const found: Choice<Item>[] = [choice([], none)];
  visitLists(items, bound, (list, bits) => {
    found.push(choice(list.flat(), bits));
    return true;
  });
  return found;
}
