import { compileParams } from '../../../core/signing/params.js';
import { type ParamsRule, recipeDefaults } from '../../../core/signing/recipe.js';
import { Renderer } from '../../../core/signing/template.js';
import type { SolveTask } from '../tasks.js';
import { type Choice, choice, distinctBy } from './cost.js';
import { labelledValue, labelledValues, type NamedValue, namedValue } from './header-values.js';
import { type Item, itemsIn } from './items.js';
import { literal, type Piece } from './pieces.js';
import type { SearchSpace } from './search-space.js';
import type { Grouped } from './visit-lists.js';

/**
 * The possible items of a list, each with the cost of choosing it; of what hints name, only this.
 */
export function listItems(space: SearchSpace, { items }: HintedItems): Grouped<Item>[] {
  const { pieces, task } = space;
  const { steps, headers = [] } = task.hints ?? {};
  const isOfParams = task.request.params.some(([name]) => headers.includes(name));
  const unnamed = {
    ...pieces,
    ...(headers.length > 0 && { extras: [], extraLists: [] }),
    ...(isOfParams && { values: [] }),
  };
  return distinctBy<Grouped<Item>>(
    [
      ...itemsIn('list', { ...space, pieces: unnamed }),
      ...items,
      ...(steps === undefined ? [] : blockItems(task)),
      ...(task.hints?.join ? blanks : []),
      ...labelOf(task).map((label) => choice([label], 3)),
    ],
    ({ value, group = '' }) =>
      [
        /^hint/.test(group) ? group : '',
        ...value.map(({ text, leads = false }) => `${text}\0${leads}`),
      ].join('\0'),
  );
}

/** An entry without a text, as an empty line is. */
const blank: Piece = { tokens: [''], text: '', bits: 0 };
/** One of them, or several: fields that a document reserves. */
const blanks = [1, 2, 3, 4, 5].map((count): Grouped<Item> => {
  return { ...choice(Array<Piece>(count).fill(blank), 4 + count), group: 'blank' };
});

/** What hints name: a list has to have all of it. */
interface HintedItems {
  /**
   * The values, each alone or behind its name, or all of them; and the constants. Each is in the
   * order of the hints.
   */
  readonly items: readonly Grouped<Item>[];
  /** Whether a list, or the beginning of one, has nothing of it twice. */
  readonly isOnce: (list: readonly Item[]) => boolean;
  /** Whether a list has all that the hints name. */
  readonly isWhole: (list: readonly Item[]) => boolean;
  /** Number of values and constants that they name. */
  readonly count: number;
}

export function hintedItems({ task }: SearchSpace): HintedItems {
  const { headers = [], constants: texts = [], join } = task.hints ?? {};
  const named = headers.flatMap((name) => namedValue(task.request, name, join) ?? []);
  const labelOf = ({ name }: NamedValue) => texts.find((text) => isLabelOf(name, text));
  const constants = texts.filter((text) => !named.some(({ name }) => isLabelOf(name, text)));
  const together =
    named.length < 2 || constants.length < texts.length ? [] : labelledValues(named, join);
  const chains = [
    named.map((value) => labelledValue(value, labelOf(value))),
    constants.map(constantItems),
  ];
  const items = chains.flatMap((chain, kind) =>
    chain.flatMap((all, index) =>
      all.map((item): Grouped<Item> => {
        const group = `hint ${kind} ${index}`;
        return { ...item, group, ...(index > 0 && { after: `hint ${kind} ${index - 1}` }) };
      }),
    ),
  );
  const whole = together.map((item): Grouped<Item> => ({ ...item, group: 'hint 0 0' }));
  const counts = new Map<Item, number>([
    ...items.map(({ value }) => [value, 1] as const),
    ...whole.map(({ value }) => [value, named.length] as const),
  ]);
  const count = named.length + constants.length;
  const countIn = (list: readonly Item[]) =>
    list.reduce((sum, item) => sum + (counts.get(item) ?? 0), 0);
  return {
    items: [...items, ...whole],
    count,
    isOnce: (list) => countIn(list) <= count,
    isWhole: (list) => countIn(list) === count,
  };
}

/** Whether a text is the name of a value with what separates it from the value. */
function isLabelOf(name: string, text: string): boolean {
  return (
    text.length > name.length &&
    text.replace(/[:= ]{1,2}$/, '').toLowerCase() === name.toLowerCase()
  );
}

/** A text as an entry of the message, or in front of one, as a label is. */
function constantItems(text: string): Choice<Item>[] {
  const piece = text === '' ? blank : literal(text);
  return [choice([piece], 0), choice([{ ...piece, leads: true }], 1)];
}

/** Blocks of parameters as documents describe them. */
export const usualParams: readonly Partial<ParamsRule>[] = [
  {},
  { encode: 'rfc3986' },
  { kvSep: '', pairSep: '' },
  { order: 'sent' },
  { pairSep: '\n' },
  { empty: 'drop' },
  { encode: 'form' },
  { names: false, pairSep: '' },
  { order: 'name-nocase' },
];

/** These blocks as parts of a message, and those that the joiner of the message joins. */
function blockItems({ request, secret, hints }: SolveTask): Grouped<Item>[] {
  if (request.params.length === 0) return [];
  const { join: pairSep = '&' } = hints ?? {};
  return [...usualParams, { names: false, pairSep }, { pairSep }, { kvSep: pairSep, pairSep }].map(
    (params, index) => {
      const { select, writePairs } = compileParams({ ...recipeDefaults.params, ...params }, '');
      const text = writePairs(select(request.params, []), new Renderer(secret, request));
      return {
        value: [{ tokens: ['$params'], text, bits: 0, params }],
        bits: 2 + index / 2,
        group: 'block',
      };
    },
  );
}

/** The word before the digest in a signature such as `v0=…`, which some messages begin with too. */
function labelOf({ signature }: SolveTask): Piece[] {
  const [, label] = /^([a-z][\w-]{0,11})[=: ](?=[\w+/-]{16})/i.exec(signature) ?? [];
  return label === undefined ? [] : [literal(label)];
}
