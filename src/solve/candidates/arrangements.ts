import { compileOrder, compileSelection } from '../../signing/params.js';
import { type Empty, isByPair, type Order, type ParamsRule, recipeDefaults } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { memoize } from '../../support/memoize.js';
import type { SolveTask } from '../tasks.js';
import { type Choice, choice, choices, distinctBy, oneIn, sortByBits, type Weighted } from './cost.js';
import { type Add, LazyList } from './lazy-list.js';
import { isProof, type ParameterRole, roleOf } from './parameter-roles.js';
import type { SearchSpace } from './search-space.js';
import { visitLists } from './visit-lists.js';

/** The parameters of a block, in their order. */
export interface Arrangement {
  readonly rule: Partial<ParamsRule>;
  /** The parameters in order; for an order by the written pair, the writing decides on it. */
  readonly entries: readonly Param[];
}

/** Blocks of names and values tend to have other orders than blocks of values alone. */
export type BlockKind = 'pairs' | 'values';

type FixedOrder = readonly string[];

export const orderChoices: Readonly<Record<BlockKind, readonly Choice<Order>[]>> = {
  pairs: choices<Order>(
    [0.7, 'name'],
    [3, 'sent'],
    [4.5, 'name-nocase'],
    [5, 'value'],
    [5.5, 'pair', 'pair-nocase'],
  ),
  values: choices<Order>([0.9, 'name'], [2, 'value'], [2.6, 'sent'], [5, 'name-nocase'], [6, 'pair-nocase']),
};

export const fixedListBits = 3.6;
const sentListBits = 2;
const secretAsBits = 2.5;
/** Rarer names of the secret are tried beside the parameters only: among them, each makes a block of its own. */
const maxNameBits = 7;

const maxArrangementBits = 15;

/** The arrangements of blocks of one kind, the likeliest first; `keyed`: with the secret as one more parameter. */
type Arrangements = (kind: BlockKind, keyed: boolean) => LazyList<Arrangement>;

export function arrangementsOf(space: SearchSpace): Arrangements {
  const { paramNames, secretNames, task } = space;
  const chosen = selections(
    paramNames.map(({ value }) => value),
    maxArrangementBits,
  );
  const fixed = fixedOrders(space);
  const named = secretNames
    .filter(({ bits }) => bits <= maxNameBits)
    .map(({ value, bits }) => choice({ [value]: '$secret' }, bits + secretAsBits));
  const unsent = unsentParams(task);
  const arrangements = (kind: BlockKind, keyed: boolean) =>
    new LazyList(maxArrangementBits, identityOf, (_, to, add: Add<Arrangement>) => {
      for (const { value: own, bits: ownBits } of keyed ? named : kind === 'pairs' ? unsent : nothingAdded) {
        for (const { rule, bits } of chosen) {
          if (bits + ownBits >= to) break;
          arrange(task, { ...rule, add: own }, bits + ownBits, orderChoices[kind], to, add);
        }
      }
      if (keyed) return;
      for (const order of fixed) {
        if (order.bits >= to) break;
        arrange(task, { empty: 'keep' }, 0.6, [order], to, add);
        arrange(task, { empty: 'drop' }, 1.6, [order], to, add);
      }
    });
  const made = memoize((keyed: boolean) => memoize((kind: BlockKind) => arrangements(kind, keyed)));
  return (kind, keyed) => made(keyed)(kind);
}

/** Equal for arrangements that write the same block. */
function identityOf({ rule, entries }: Arrangement): string {
  const order = isByPair(rule.order) ? rule.order : '';
  return `${order}\0${entries.map(([name, value]) => `${name}\0${value}`).join('\0')}`;
}

function arrange(
  task: SolveTask,
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
    const entries = select(task.request.params, addedEntries(rule, task));
    add(
      { rule, entries: isByPair(order.value) ? entries : compileOrder(order.value, () => '')(entries) },
      total,
    );
  }
}

/** The parameters that a rule adds: the secret, or a header. */
export function addedEntries({ add = {} }: Partial<ParamsRule>, { request, secret }: SolveTask): Param[] {
  return Object.entries(add).map(([name, value]) => [
    name,
    value === '$secret' ? secret.reveal() : (request.extra[value.replace(/^\$extra:/, '')] ?? ''),
  ]);
}

/** Nothing added; or all headers or one of them among the parameters, under their names or a part of these. */
function unsentParams({ request }: SolveTask): Choice<ParamsRule['add']>[] {
  const names = Object.keys(request.extra).filter((name) => /^[\w-]+$/.test(name));
  const forms: readonly Choice<(name: string) => string>[] = [
    choice((name) => name, 0.5),
    choice((name) => name.toLowerCase(), 2),
    choice((name) => name.replace(/^x-/i, '').toLowerCase().replaceAll('-', '_'), 2),
  ];
  const lists = [
    choice(names, 2),
    ...(names.length > 1 ? names.map((name) => choice([name], 3 + oneIn(names.length))) : []),
  ];
  const added = lists.flatMap((list) =>
    forms.map((form) =>
      choice(
        Object.fromEntries(list.value.map((name) => [form.value(name), `$extra:${name}`])),
        list.bits + form.bits,
      ),
    ),
  );
  const distinct = distinctBy(names.length === 0 ? [] : added, ({ value }) => JSON.stringify(value));
  return [...nothingAdded, ...distinct];
}

const nothingAdded: readonly Choice<ParamsRule['add']>[] = [choice({}, 0)];

/** Fixed lists of names, the likeliest first. A client often sends the parameters in the order of the list. */
function fixedOrders({ paramNames, task }: SearchSpace): Choice<FixedOrder>[] {
  const sent = [...new Set(task.request.params.map(([name]) => name))];
  const lists: Choice<FixedOrder>[] = [choice(sent, fixedListBits + sentListBits)];
  visitLists(paramNames, maxArrangementBits - fixedListBits, (list, bits) => {
    lists.push(choice([...list], bits + fixedListBits));
    return true;
  });
  return sortByBits(lists);
}

interface Selection extends Weighted {
  readonly rule: Pick<ParamsRule, 'exclude' | 'include' | 'empty'>;
}

/** The cost of excluding a parameter of this role by name. */
const exclusionBitsOf: Readonly<Record<ParameterRole, number>> = {
  signing: 2.2,
  session: 3.5,
  app: 5.5,
  time: 5.5,
  nonce: 5.5,
  other: 4.5,
};

/** Names of signatures. Whether one signature covers another is about as likely as not. */
const signatureName = /sign|^sig$/i;

/** The selections with a cost within `bound`, the likeliest first; `names` are those of all samples. */
function selections(names: readonly string[], bound: number): Selection[] {
  const found = [...exclusions(names, bound), ...inclusions(names, bound)].flatMap(
    ({ exclude, include, bits }) =>
      emptyChoices.map(({ value, bits: emptyBits }) => ({
        rule: { exclude, include, empty: value },
        bits: bits + emptyBits,
      })),
  );
  return sortByBits(found.filter(({ bits }) => bits <= bound));
}

export const emptyChoices = choices<Empty>([1.1, 'keep'], [0.9, 'drop']);

/** The names that a rule excludes or includes. */
interface NameLists extends Weighted, Pick<ParamsRule, 'exclude' | 'include'> {}

/** No exclusion, then one, two and three names; then all parameters that serve the call alone. */
function exclusions(names: readonly string[], bound: number): NameLists[] {
  const costs = names.map((name) => choice(name, exclusionBits(name, names)));
  const lists: NameLists[] = [{ exclude: [], include: null, bits: 0.3 }];
  for (const { value, bits } of subsets(costs, 3, 0.3, bound)) {
    lists.push({ exclude: value, include: null, bits });
  }
  const system = names.filter((name) => roleOf(name) !== 'other');
  if (system.length > 1 && system.length < names.length) {
    lists.push({ exclude: system, include: null, bits: 4 });
    const proof = names.filter((name) => isProof(roleOf(name)));
    if (proof.length > 0) lists.push({ exclude: proof, include: null, bits: 4 });
  }
  return lists;
}

export function exclusionBits(name: string, names: readonly string[]): number {
  if (signatureName.test(name)) return 1.8;
  const role = roleOf(name);
  const alike = names.filter((other) => roleOf(other) === role).length;
  return exclusionBitsOf[role] + oneIn(alike) * 0.7;
}

/** Up to four of the names, but not all. */
function inclusions(names: readonly string[], bound: number): NameLists[] {
  const costs = names.map((name) => choice(name, inclusionBits(name, names)));
  return subsets(costs, 4, 4, bound)
    .filter(({ value }) => value.length < names.length)
    .map(({ value, bits }) => ({ exclude: [], include: value, bits }));
}

function inclusionBits(name: string, names: readonly string[]): number {
  return isProof(roleOf(name)) ? 1.2 : 1 + oneIn(names.length);
}

/** The selections of one to `most` items, in their order, that cost at most `bound` on top of `spent`. */
function subsets<T>(items: readonly Choice<T>[], most: number, spent: number, bound: number): Choice<T[]>[] {
  return items.flatMap(({ value, bits }, index) => {
    const total = spent + bits;
    if (most === 0 || total > bound) return [];
    const longer = subsets(items.slice(index + 1), most - 1, total, bound);
    return [choice([value], total), ...longer.map((rest) => choice([value, ...rest.value], rest.bits))];
  });
}
