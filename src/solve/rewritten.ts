import { compileParams } from '../signing/params.js';
import type { ParamsRule, Recipe } from '../signing/recipe.js';
import { addedEntries } from './candidates/arrangements.js';
import type { RecipeCandidate } from './candidates/cost.js';
import { namedToken } from './candidates/pieces.js';
import { entriesOf } from './changes.js';
import type { SolveTask } from './tasks.js';

/** The cost of another way to write the same message, in bits. */
const rewritingBits = 2.5;

/**
 * A recipe, and those that write its message in another way: values as a block of values and back, the secret as a pair
 * beside the parameters or among them. Not all of them give the same message for this request.
 */
export function rewritten({ recipe, bits }: RecipeCandidate, task: SolveTask): RecipeCandidate[] {
  const others = [
    ...asBlock(recipe),
    ...asList(recipe, task),
    ...secretAmong(recipe),
    ...secretBeside(recipe),
  ];
  return [
    { recipe, bits },
    ...others.map((other) => ({ recipe: { ...recipe, ...other }, bits: bits + rewritingBits })),
  ];
}

type Rewriting = Pick<Recipe, 'message' | 'params'>;

const isValue = (entry: string) => /^\$(?:\{param:[^}]+\}|param:[\w-]+)$/.test(entry);
const nameIn = (entry: string) => entry.replace(/^\$\{?param:|\}$/g, '');

/** Values that stand side by side as a block, without the secret or with it. */
function asBlock(recipe: Recipe): Rewriting[] {
  const entries = entriesOf(recipe);
  const from = entries.findIndex(isValue);
  const to = entries.findLastIndex(isValue);
  if (from < 0) return [];
  const names = entries.filter(isValue).map(nameIn);
  const values = { ...recipe.params, names: false, pairSep: recipe.join };
  const block = (params: Partial<ParamsRule>, start: number, end: number): Rewriting => ({
    params: { ...values, ...params },
    message: entries.toSpliced(start, end - start + 1, '$params'),
  });
  const isSecret = (index: number) => entries[index] === '$secret';
  return [
    ...(entries.slice(from, to + 1).every(isValue) ? [block({ order: names }, from, to)] : []),
    ...(entries.every((entry) => isValue(entry) || entry === '$secret') && entries.includes('$secret')
      ? (['value', 'name'] as const).map((order) =>
          block(
            { order, include: names, add: { token: '$secret' } },
            isSecret(0) ? 0 : from,
            isSecret(entries.length - 1) ? entries.length - 1 : to,
          ),
        )
      : []),
  ];
}

/** A block of values as these values, one by one. */
function asList(recipe: Recipe, task: SolveTask): Rewriting[] {
  const { params, join } = recipe;
  const entries = entriesOf(recipe);
  const place = entries.indexOf('$params');
  if (place < 0 || params.names || (params.pairSep !== join && entries.length > 1)) return [];
  const selected = compileParams(params).select(task.request.params, addedEntries(params, task));
  const tokens = selected.map(([name]) => params.add[name] ?? namedToken('param', name) ?? '');
  const separated =
    join === params.pairSep ? tokens : tokens.flatMap((token) => [params.pairSep, token]).slice(1);
  return [
    {
      params: { ...params, names: true, pairSep: '&', add: {} },
      message: entries.toSpliced(place, 1, ...separated),
    },
  ];
}

/** A named secret next to the parameters, as one of them. */
function secretAmong(recipe: Recipe): Rewriting[] {
  const { params } = recipe;
  const entries = entriesOf(recipe);
  const at = entries.indexOf('$secret');
  const block = entries.indexOf('$params');
  const name = (entries[at - 1] ?? '').replace(params.pairSep, '').replace(params.kvSep, '');
  if (at < 1 || block < 0 || !/^\w+$/.test(name)) return [];
  const from = Math.min(at - 1, block);
  const to = Math.max(at, block);
  return [
    {
      params: { ...params, add: { [name]: '$secret' } },
      message: entries.toSpliced(from, to - from + 1, '$params'),
    },
  ];
}

/** A secret among the parameters, behind them or in front of them. */
function secretBeside(recipe: Recipe): Rewriting[] {
  const { params } = recipe;
  const entries = entriesOf(recipe);
  const block = entries.indexOf('$params');
  const [name] = Object.entries(params.add).find(([, value]) => value === '$secret') ?? [];
  if (name === undefined || block < 0) return [];
  const rest = { ...params, add: {} };
  const written = (params.names ? name : '') + (params.names ? params.kvSep : '');
  return [
    { params: rest, message: entries.toSpliced(block + 1, 0, params.pairSep + written, '$secret') },
    { params: rest, message: entries.toSpliced(block, 0, written, '$secret', params.pairSep) },
  ];
}
