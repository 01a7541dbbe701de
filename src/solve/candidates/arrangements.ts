import { compileOrder, compileSelection, type Entry } from '../../signing/params.js';
import { type Order, type ParamsRule, recipeDefaults } from '../../signing/recipe.js';
import type { SignableRequest } from '../../signing/request.js';
import type { Secret } from '../../signing/secret.js';
import { selections, visitLists } from './selections.js';
import { type Add, type Choice, choice, LazyList, memoize, sortByBits } from './weighted.js';

/** Which parameters are in a block, and their order. */
export interface Arrangement {
  readonly rule: Partial<ParamsRule>;
  /** In order. For an order by the written pair, the writing decides. */
  readonly entries: readonly Entry[];
}

/** Inputs of an arrangement. */
export interface ArrangementParts {
  readonly request: SignableRequest;
  readonly secret: Secret;
  /** The parameters' names, each with the cost of choosing it for a fixed list. */
  readonly names: readonly Choice<string>[];
  /** Possible names of the secret among the parameters. */
  readonly secretNames: readonly Choice<string>[];
  /** Whether only the likeliest of arrangements that are equal in this request is wanted. */
  readonly isDistinct: boolean;
}

/** Blocks of names and values tend to have other orders than blocks of values alone. */
export type BlockKind = 'pairs' | 'values';

type FixedOrder = readonly string[];

const orderChoices: Readonly<Record<BlockKind, readonly Choice<Order>[]>> = {
  pairs: [
    choice('name', 0.7),
    choice('sent', 3),
    choice('name-nocase', 4.5),
    choice('value', 5),
    choice('pair', 5.5),
    choice('pair-nocase', 5.5),
  ],
  values: [
    choice('name', 0.9),
    choice('value', 2),
    choice('sent', 2.6),
    choice('name-nocase', 5),
    choice('pair-nocase', 6),
  ],
};

const fixedListBits = 3.6;
const sentListBits = 2;
const secretAsBits = 2.5;

/** Maximum cost of an arrangement, in bits. */
const maxArrangementBits = 15;

/** The arrangements of blocks of one kind, the likeliest first; `keyed`: with the secret as one more parameter. */
export type Arrangements = (kind: BlockKind, keyed: boolean) => LazyList<Arrangement>;

export function arrangementsOf(parts: ArrangementParts): Arrangements {
  const { request, names, secretNames } = parts;
  const chosen = selections(
    request.params,
    names.map(({ value }) => value),
    maxArrangementBits,
  );
  const fixed = fixedOrders(parts);
  const open = memoize(
    (kind: BlockKind) =>
      new LazyList(maxArrangementBits, keyOf(parts), (_, to, add: Add<Arrangement>) => {
        for (const { rule, bits } of chosen) {
          if (bits >= to) break;
          arrange(parts, rule, bits, orderChoices[kind], to, add);
        }
        for (const order of fixed) {
          if (order.bits >= to) break;
          arrange(parts, { empty: 'keep' }, 0.6, [order], to, add);
          arrange(parts, { empty: 'drop' }, 1.6, [order], to, add);
        }
      }),
  );
  const withSecret = memoize(
    (kind: BlockKind) =>
      new LazyList(maxArrangementBits, keyOf(parts), (_, to, add: Add<Arrangement>) => {
        for (const { value: secretAs, bits: nameBits } of secretNames) {
          for (const { rule, bits } of chosen) {
            const total = bits + nameBits + secretAsBits;
            if (total >= to) break;
            arrange(parts, { ...rule, secretAs }, total, orderChoices[kind], to, add);
          }
        }
      }),
  );
  return (kind, keyed) => (keyed ? withSecret(kind) : open(kind));
}

function keyOf({ isDistinct }: ArrangementParts): ((arrangement: Arrangement) => string) | null {
  if (!isDistinct) return null;
  return ({ rule, entries }) => {
    const order = rule.order === 'pair' || rule.order === 'pair-nocase' ? rule.order : '';
    return `${order}\0${entries.map(([name, value]) => `${name}\0${value}`).join('\0')}`;
  };
}

function arrange(
  { request, secret }: ArrangementParts,
  chosen: Partial<ParamsRule>,
  bits: number,
  orders: readonly Choice<Order | FixedOrder>[],
  to: number,
  add: Add<Arrangement>,
): void {
  for (const order of orders) {
    const total = bits + order.bits;
    if (total >= to) return;
    const rule = { ...chosen, order: order.value };
    const select = compileSelection({ ...recipeDefaults.params, ...rule });
    const entries = select(request.params, secret);
    const isByPair = order.value === 'pair' || order.value === 'pair-nocase';
    add({ rule, entries: isByPair ? entries : compileOrder(order.value, () => '')(entries) }, total);
  }
}

/** Fixed lists of names, the likeliest first. A client often sends the parameters in the order of the list. */
function fixedOrders({ names, request }: ArrangementParts): Choice<FixedOrder>[] {
  const sent = [...new Set(request.params.map(([name]) => name))];
  const lists: Choice<FixedOrder>[] = [choice(sent, fixedListBits + sentListBits)];
  visitLists(names, maxArrangementBits - fixedListBits, (list, bits) => {
    lists.push(choice([...list], bits + fixedListBits));
    return true;
  });
  return sortByBits(lists);
}
