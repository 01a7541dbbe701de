import { folds } from './letter-case.js';
import type { ParamsRule } from './recipe.js';
import type { Param } from './request.js';
import type { Secret } from './secret.js';

/** A parameter that takes part; the one with a label is the secret, and the label what is shown of it. */
export type Entry = readonly [name: string, value: string, label?: string];

/**
 * Which parameters take part, in request order: `nameCase`, then `exclude`, `include`, a fixed `order` and
 * `empty`, then `joinRepeated`; the secret comes last. What it gives is the caller's to change.
 */
export function compileSelection(rule: ParamsRule): (params: readonly Param[], secret: Secret) => Entry[] {
  const { nameCase, joinRepeated, secretAs } = rule;
  const takesPart = compileFilter(rule);
  return (params, secret) => {
    const folded = nameCase === 'none' ? params : foldNames(params, folds[nameCase]);
    const kept = folded.filter(takesPart);
    const entries: Entry[] = joinRepeated === null ? kept : joinValues(kept, joinRepeated);
    if (secretAs !== null) entries.push([secretAs, secret.reveal(), secret.toString()]);
    return entries;
  };
}

function compileFilter({ exclude, include, order, empty }: ParamsRule): (param: Param) => boolean {
  const isNamed = compileNameFilter(
    new Set(exclude),
    [include, order].filter((list) => Array.isArray(list)),
  );
  return empty === 'keep' ? (param) => isNamed(param[0]) : (param) => param[1] !== '' && isNamed(param[0]);
}

function compileNameFilter(excluded: ReadonlySet<string>, lists: readonly (readonly string[])[]) {
  if (lists.length === 0) return (name: string) => !excluded.has(name);
  const named = new Set(lists.flat().filter((name) => lists.every((list) => list.includes(name))));
  return (name: string) => named.has(name) && !excluded.has(name);
}

function foldNames(params: readonly Param[], fold: (name: string) => string): Param[] {
  return params.map(([name, value]) => [fold(name), value]);
}

/** One parameter a name, at the first one's place. */
function joinValues(params: readonly Param[], separator: string): Param[] {
  const values = new Map<string, string>();
  for (const [name, value] of params) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : before + separator + value);
  }
  return [...values];
}
