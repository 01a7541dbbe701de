import type { Ink } from './compile-recipe.js';
import { encoders, folds } from './encodings.js';
import type { ParamsRule } from './recipe.js';
import { fieldPath, RecipeError } from './recipe-error.js';
import type { Param } from './request.js';
import type { Secret } from './secret.js';
import { parseTemplate, renderTemplate, type Template, tokensOf } from './template.js';

/** The parameters stage: which ones take part, in which order, and how they are written. */
export interface ParamsFormat {
  select(params: readonly Param[], secret: Secret): readonly Entry[];
  /** What `$params` stands for, before `encode.block`; `secret` is what `$secret` in `pairEnd` stands for. */
  writePairs<T>(entries: readonly Entry[], ink: Ink<T>, secret: T): T;
  /** What `$names` stands for. */
  writeNames<T>(entries: readonly Entry[], ink: Ink<T>): T;
  /** What `$values` stands for. */
  writeValues<T>(entries: readonly Entry[], ink: Ink<T>): T;
}

/** @throws RecipeError where the fields of the rule do not go together */
export function compileParams(rule: ParamsRule, field = 'params'): ParamsFormat {
  checkParams(rule, field);
  const { names, values, pairSep } = rule;
  const kvSep = names && values ? rule.kvSep : '';
  const pairEnd = parsePairEnd(rule.pairEnd, fieldPath(field, 'pairEnd'));
  const write = compileParamText(rule);
  const writeKey = (entry: Entry) => (names ? write(entry[0]) : '') + kvSep;
  const writePair = (entry: Entry) => writeKey(entry) + (values ? write(entry[1]) : '');
  const select = compileSelection(rule);
  const order = compileOrder(rule.order, writePair);

  function writeValue<T>([, value, label]: Entry, ink: Ink<T>): T {
    return label === undefined ? ink.open(write(value)) : ink.secret(write(value), label);
  }

  return {
    select: (params, secret) => order(select(params, secret)),
    writePairs(entries, ink, secret) {
      const end = pairEnd.length === 0 ? ink.empty : renderTemplate(pairEnd, ink, () => secret);
      let text = ink.empty;
      let separator = '';
      for (const entry of entries) {
        const isOpen = entry[2] === undefined || !values;
        text = isOpen
          ? ink.join(text, ink.open(separator + writePair(entry)))
          : ink.join(ink.join(text, ink.open(separator + writeKey(entry))), writeValue(entry, ink));
        if (pairEnd.length > 0) text = ink.join(text, end);
        separator = pairSep;
      }
      return text;
    },
    writeNames(entries, ink) {
      return ink.list(
        entries.map(([name]) => ink.open(write(name))),
        pairSep,
      );
    },
    writeValues(entries, ink) {
      return ink.list(
        entries.map((entry) => writeValue(entry, ink)),
        pairSep,
      );
    },
  };
}

function checkParams(rule: ParamsRule, field: string): void {
  if (!rule.names && !rule.values) {
    throw new RecipeError(field, 'names and values are both false', 'Set one of them to true.');
  }
  if (Object.hasOwn(rule.escape, '')) {
    throw new RecipeError(fieldPath(field, 'escape'), 'cannot replace the empty text');
  }
  if (rule.secretAs !== null && Array.isArray(rule.order) && !rule.order.includes(rule.secretAs)) {
    throw new RecipeError(
      fieldPath(field, 'secretAs'),
      `${rule.secretAs} is not in the order`,
      'Add it to params.order, where the secret stands.',
    );
  }
}

function parsePairEnd(text: string, field: string): Template {
  const template = parseTemplate(text, field);
  if (tokensOf(template).every(({ source }) => source === 'secret')) return template;
  throw new RecipeError(field, 'takes no token but $secret');
}

type Compare = (a: Entry, b: Entry) => number;

/** Puts entries into the recipe's order, in place; `writePair` is what `pair` orders by. */
export function compileOrder(
  order: ParamsRule['order'],
  writePair: (entry: Entry) => string,
): (entries: Entry[]) => Entry[] {
  if (order === 'sent') return (entries) => entries;
  const compare = compileCompare(order, writePair);
  return (entries) => entries.sort(compare);
}

function compileCompare(
  order: Exclude<ParamsRule['order'], 'sent'>,
  writePair: (entry: Entry) => string,
): Compare {
  switch (order) {
    case 'name':
      return (a, b) => compareTexts(a[0], b[0]);
    case 'name-nocase':
      return (a, b) => compareTexts(a[0].toLowerCase(), b[0].toLowerCase());
    case 'value':
      return (a, b) => compareTexts(a[1], b[1]);
    case 'pair':
      return (a, b) => compareTexts(writePair(a), writePair(b));
    case 'pair-nocase':
      return (a, b) => compareTexts(writePair(a).toLowerCase(), writePair(b).toLowerCase());
    default: {
      const rank = new Map(order.map((name, index) => [name, index]));
      return (a, b) => (rank.get(a[0]) ?? 0) - (rank.get(b[0]) ?? 0);
    }
  }
}

/** By UTF-16 code unit, never by locale. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

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

/** How a name or a value is written: `escape`, then `encode`, then `case`. */
export function compileParamText(rule: ParamsRule): (text: string) => string {
  const escapeText = compileEscape(rule.escape);
  const encode = encoders[rule.encode];
  const fold = folds[rule.case];
  const asItIs = rule.encode === 'none' && rule.case === 'none' && Object.keys(rule.escape).length === 0;
  return asItIs ? (text) => text : (text) => fold(encode(escapeText(text)));
}

/** Replaces in one pass, the longest text first, so that what was put in is not replaced again. */
function compileEscape(table: ParamsRule['escape']): (text: string) => string {
  const replacements = new Map(Object.entries(table));
  if (replacements.size === 0) return (text) => text;
  const texts = [...replacements.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, (found) => replacements.get(found) ?? found);
}
