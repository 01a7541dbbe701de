import { compileOrder, compileSelection } from '../../../core/signing/params.js';
import {
  type Empty,
  isByPair,
  type Order,
  type ParamsRule,
  recipeDefaults,
} from '../../../core/signing/recipe.js';
import type { Param } from '../../../core/signing/request.js';
import { memoize } from '../../../core/support/memoize.js';
import type { SolveTask } from '../tasks.js';
import { type Choice, choice, choices, combined, distinctBy, oneIn, sortByBits } from './cost.js';
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
  values: choices<Order>(
    [0.9, 'name'],
    [2, 'value'],
    [2.6, 'sent'],
    [5, 'name-nocase'],
    [6, 'pair-nocase'],
  ),
};

export const fixedListBits = 3.6;
const sentListBits = 2;
const secretAsBits = 2.5;
/**
 * Rarer names of the secret are tried beside the parameters only: among them, each makes a block of
 * its own.
 */
const maxNameBits = 7;

const maxArrangementBits = 15;

/**
 * The arrangements of blocks of one kind, the likeliest first; `keyed`: with the secret as one more
 * parameter.
 */
type Arrangements = (kind: BlockKind, keyed: boolean) => LazyList<Arrangement>;

export function arrangementsOf(space: SearchSpace): Arrangements {
  const { paramNames, secretNames, task, room } = space;
  const names = paramNames.map(({ value }) => value);
  const chosen = sortByBits(
    combined(selections(names), emptyChoices, (rule, empty) => ({ ...rule, empty })),
  );
  const fixed = fixedOrders(space);
  const named = secretNames
    .filter(({ bits }) => bits <= maxNameBits)
    .map(({ value, bits }) => choice({ [value]: '$secret' }, bits + secretAsBits));
  const unsent = unsentParams(task);
  const arrangements = (kind: BlockKind, keyed: boolean) =>
    new LazyList(maxArrangementBits, identityOf, room, (from, to, add: Add<Arrangement>) => {
      const arrangeAll = (
        rule: Partial<ParamsRule>,
        bits: number,
        all: readonly Choice<Order | FixedOrder>[],
      ) => {
        for (const order of all)
          if (bits + order.bits >= from && bits + order.bits < to)
            add(arrange(task, { ...rule, order: order.value }), bits + order.bits);
      };
      for (const { value: own, bits: ownBits } of keyed
        ? named
        : kind === 'pairs'
          ? unsent
          : nothingAdded) {
        for (const { value: rule, bits } of chosen) {
          if (bits + ownBits >= to) break;
          arrangeAll({ ...rule, add: own }, bits + ownBits, orderChoices[kind]);
        }
      }
      if (keyed) return;
      arrangeAll({ empty: 'keep' }, 0.6, fixed);
      arrangeAll({ empty: 'drop' }, 1.6, fixed);
    });
  const made = memoize((keyed: boolean) => memoize((kind: BlockKind) => arrangements(kind, keyed)));
  return (kind, keyed) => made(keyed)(kind);
}

/** Equal for arrangements that write the same block. */
function identityOf({ rule, entries }: Arrangement): string {
  const order = isByPair(rule.order) ? rule.order : '';
  return `${order}\0${entries.map(([name, value]) => `${name}\0${value}`).join('\0')}`;
}

function arrange(task: SolveTask, rule: Partial<ParamsRule>): Arrangement {
  const whole = { ...recipeDefaults.params, ...rule };
  const entries = compileSelection(whole)(task.request.params, addedEntries(rule, task));
  return {
    rule,
    entries: isByPair(whole.order) ? entries : compileOrder(whole.order, () => '')(entries),
  };
}

/** The parameters that a rule adds: the secret, or a header. */
export function addedEntries(
  { add = {} }: Partial<ParamsRule>,
  { request, secret }: SolveTask,
): Param[] {
  return Object.entries(add).map(([name, value]) => [
    name,
    value === '$secret' ? secret.reveal() : (request.extra[value.replace(/^\$extra:/, '')] ?? ''),
  ]);
}

const nothingAdded: readonly Choice<ParamsRule['add']>[] = [choice({}, 0)];

const addedNames = choices<(name: string) => string>(
  [0.5, (name) => name],
  [
    2,
    (name) => name.toLowerCase(),
    (name) => name.replace(/^x-/i, '').toLowerCase().replaceAll('-', '_'),
  ],
);

/**
 * Nothing added; or all headers, all but one or one among the parameters, under their names or a
 * part of these.
 */
function unsentParams({ request }: SolveTask): Choice<ParamsRule['add']>[] {
  const names = Object.keys(request.extra).filter((name) => /^[\w-]+$/.test(name));
  const lists = [
    choice(names, 2),
    ...names.flatMap((name) =>
      [[name], names.filter((other) => other !== name)].map((list) =>
        choice(list, 3 + oneIn(names.length)),
      ),
    ),
  ].filter(({ value }) => value.length > 0);
  const added = combined(lists, addedNames, (list, nameOf) =>
    Object.fromEntries(list.map((name) => [nameOf(name), `$extra:${name}`])),
  );
  return [...nothingAdded, ...distinctBy(added, ({ value }) => JSON.stringify(value))];
}

/**
 * Names in the order in which they were sent: a client often sends the parameters in the order of
 * the document's list. All of them, all but one, or those behind each other.
 */
export function sentLists(params: readonly Param[]): Choice<FixedOrder>[] {
  const sent = [...new Set(params.map(([name]) => name))];
  const runs = sent.flatMap((_, from) =>
    sent.slice(from + 2).map((_, index) => sent.slice(from, from + index + 2)),
  );
  const parts = [...sent.map((name) => sent.filter((other) => other !== name)), ...runs];
  return [
    choice(sent, sentListBits),
    ...parts.map((names) => choice(names, sentListBits + 0.5 + oneIn(parts.length))),
  ];
}

/** Fixed lists of names, the likeliest first. */
function fixedOrders({ paramNames, task }: SearchSpace): Choice<FixedOrder>[] {
  const lists = [...sentLists(task.request.params)];
  visitLists(paramNames, maxArrangementBits - fixedListBits, (list, bits) => {
    lists.push(choice([...list], bits));
    return true;
  });
  return sortByBits(lists).map(({ value, bits }) => choice(value, bits + fixedListBits));
}

/** Which parameters are in a block. */
type Selection = Choice<Pick<ParamsRule, 'exclude' | 'include'>>;

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

export const emptyChoices = choices<Empty>([1.1, 'keep'], [0.9, 'drop']);

/**
 * All names but up to three, those that serve the call alone, or up to four names and no others;
 * `names` are those of all samples.
 */
export function selections(names: readonly string[]): Selection[] {
  const excluded = names.map((name) => choice(name, exclusionBits(name, names)));
  const included = names.map((name) =>
    choice(name, isProof(roleOf(name)) ? 1.2 : 1 + oneIn(names.length)),
  );
  const system = names.filter((name) => roleOf(name) !== 'other');
  const proof = names.filter((name) => isProof(roleOf(name)));
  const isSystem = system.length > 1 && system.length < names.length;
  const lists = [
    choice([], 0.3),
    ...subsets(excluded, 3, 0.3),
    ...(isSystem
      ? [system, proof].filter(({ length }) => length > 0).map((list) => choice(list, 4))
      : []),
  ];
  return [
    ...lists.map(({ value, bits }) => choice({ exclude: value, include: null }, bits)),
    ...subsets(included, 4, 4)
      .filter(({ value }) => value.length < names.length)
      .map(({ value, bits }) => choice({ exclude: [], include: value }, bits)),
  ];
}

export function exclusionBits(name: string, names: readonly string[]): number {
  if (signatureName.test(name)) return 1.8;
  const role = roleOf(name);
  const alike = names.filter((other) => roleOf(other) === role).length;
  return exclusionBitsOf[role] + oneIn(alike) * 0.7;
}

/**
 * The selections of one to `most` items, in their order, that are cheap enough on top of `spent`.
 */
function subsets<T>(items: readonly Choice<T>[], most: number, spent: number): Choice<T[]>[] {
  return items.flatMap(({ value, bits }, index) => {
    const total = spent + bits;
    if (most === 0 || total > maxArrangementBits) return [];
    const longer = subsets(items.slice(index + 1), most - 1, total);
    return [
      choice([value], total),
      ...longer.map((rest) => choice([value, ...rest.value], rest.bits)),
    ];
  });
}
