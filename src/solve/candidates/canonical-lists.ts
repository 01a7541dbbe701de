import { type Choice, choice, distinctBy } from './cost.js';
import type { Piece } from './pieces.js';
import type { SearchSpace } from './search-space.js';
import { type ListItem, maxListBits } from './value-lists.js';

/**
 * Whole messages of one entry a line, or joined otherwise: method, path, query, headers and body in the orders of
 * documented rules. They are apart from the items, so that they do not make other lists less likely.
 */
export function canonicalLists(space: SearchSpace): Choice<ListItem>[] {
  const { pieces, hasBody } = space;
  const { method, host, path, url, query, bodies, extras, extraLists } = pieces;
  if (extras.length === 0) return listsWithoutHeaders(space);
  const headers = [
    ...extras.map((extra) => choice<ListItem>([extra], extra.bits + 0.5)),
    ...extraLists,
  ].filter(({ bits }) => bits < 8);
  const targets: readonly Choice<ListItem>[] = [
    choice([path], 0.5),
    choice([path, query], 2),
    choice([withQuery(path, query)], 2),
    choice([host, path], 4),
    choice([url], 3),
  ];
  const contents: readonly Choice<ListItem>[] = [
    choice([], hasBody ? 3 : 0.5),
    ...bodies.map((body) => choice<ListItem>([body], body.bits + (hasBody ? 0.7 : 3))),
  ];
  const lists = headers.flatMap((header) =>
    targets.flatMap((target) =>
      contents.flatMap((content) =>
        canonicalOrders.map((order) =>
          choice<ListItem>(
            order.value({
              method: [method],
              target: target.value,
              header: header.value,
              content: content.value,
            }),
            canonicalBits + order.bits + header.bits + target.bits + content.bits,
          ),
        ),
      ),
    ),
  );
  const possible = [...lists, ...listsWithoutHeaders(space)].filter(({ bits }) => bits <= maxListBits);
  return distinctBy(possible, ({ value }) => value.map(({ text }) => text).join('\0'));
}

/** The cost of a message of this kind. */
const canonicalBits = 3.5;

interface CanonicalParts {
  readonly method: ListItem;
  readonly target: ListItem;
  readonly header: ListItem;
  readonly content: ListItem;
}

const canonicalOrders: readonly Choice<(parts: CanonicalParts) => ListItem>[] = [
  choice(({ method, target, header, content }) => [...header, ...method, ...target, ...content], 1.5),
  choice(({ method, target, header, content }) => [...method, ...target, ...header, ...content], 1.5),
  choice(({ method, target, header, content }) => [...method, ...target, ...content, ...header], 2),
  choice(({ method, target, header, content }) => [...method, ...header, ...target, ...content], 2.5),
  choice(({ method, target, header, content }) => [...method, ...content, ...header, ...target], 2.5),
  choice(({ target, header, content }) => [...target, ...header, ...content], 2.5),
  choice(({ target, header, content }) => [...header, ...target, ...content], 3),
  choice(({ header, content }) => [...header, ...content], 2),
];

/** An empty message, where the key holds everything; and the path with a line for a body that is not there. */
function listsWithoutHeaders({ pieces: { path, query }, hasBody }: SearchSpace): Choice<ListItem>[] {
  const noBody: Piece = { tokens: ['$body'], text: '', bits: 0 };
  const lines = [path, withQuery(path, query)].map((target) => choice<ListItem>([target, noBody], 7));
  return [choice([], 7), ...(hasBody ? [] : lines)];
}

function withQuery(path: Piece, query: Piece): Piece {
  const text = query.text === '' ? path.text : `${path.text}?${query.text}`;
  return { ...path, tokens: [`${path.tokens.join('')}$search`], text };
}
