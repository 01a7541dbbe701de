import type { Renderer } from './compile-recipe.js';
import { encoders, escapePattern, folds } from './encodings.js';
import { fieldPath, type ParamsRule, RecipeError } from './recipe.js';
import type { Param } from './request.js';
import type { Secret } from './secret.js';
import { parseTemplate, renderTemplate, type Template, tokensOf } from './template.js';

/** The parameters stage: selection, order and format. */
export interface ParamsFormat {
  select(params: readonly Param[], secret: Secret): readonly Entry[];
  /** The value of `$params` before `encode.block`; `secret` is the value of `$secret` in `pairEnd`. */
  writePairs<T>(entries: readonly Entry[], renderer: Renderer<T>, secret: T): T;
  /** The value of `$names`. */
  writeNames<T>(entries: readonly Entry[], renderer: Renderer<T>): T;
  /** The value of `$values`. */
  writeValues<T>(entries: readonly Entry[], renderer: Renderer<T>): T;
}

/** @throws RecipeError for fields that contradict each other */
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

  function writeValue<T>([, value, label]: Entry, renderer: Renderer<T>): T {
    return label === undefined ? renderer.open(write(value)) : renderer.secret(write(value), label);
  }

  return {
    select: (params, secret) => order(select(params, secret)),
    writePairs(entries, renderer, secret) {
      const end = pairEnd.length === 0 ? renderer.empty : renderTemplate(pairEnd, renderer, () => secret);
      let text = renderer.empty;
      let separator = '';
      for (const entry of entries) {
        const isOpen = entry[2] === undefined || !values;
        text = isOpen
          ? renderer.join(text, renderer.open(separator + writePair(entry)))
          : renderer.join(
              renderer.join(text, renderer.open(separator + writeKey(entry))),
              writeValue(entry, renderer),
            );
        if (pairEnd.length > 0) text = renderer.join(text, end);
        separator = pairSep;
      }
      return text;
    },
    writeNames: (entries, renderer) => renderer.open(entries.map(([name]) => write(name)).join(pairSep)),
    writeValues(entries, renderer) {
      let text = renderer.empty;
      for (const [index, entry] of entries.entries()) {
        if (index > 0) text = renderer.join(text, renderer.open(pairSep));
        text = renderer.join(text, writeValue(entry, renderer));
      }
      return text;
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

/** Sorts entries into the recipe's order, in place; `writePair` gives the sort key of `pair`. */
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

/** Compares by UTF-16 code unit, never by locale. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A selected parameter. An entry with a label is the secret; the label is shown instead. */
export type Entry = readonly [name: string, value: string, label?: string];

/**
 * Selects parameters, in request order: `nameCase`, then `exclude`, `include`, a fixed `order` and `empty`, then
 * `joinRepeated`; the secret is last. The caller may change the list.
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

/** Joins the values of each name, at the place of the first. */
function joinValues(params: readonly Param[], separator: string): Param[] {
  const values = new Map<string, string>();
  for (const [name, value] of params) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : before + separator + value);
  }
  return [...values];
}

/** Formats a name or a value: `escape`, then `encode`, then `case`. */
export function compileParamText(rule: ParamsRule): (text: string) => string {
  const escapeText = compileEscape(rule.escape);
  const encode = encoders[rule.encode];
  const fold = folds[rule.case];
  const asItIs = rule.encode === 'none' && rule.case === 'none' && Object.keys(rule.escape).length === 0;
  return asItIs ? (text) => text : (text) => fold(encode(escapeText(text)));
}

/** Replaces in one pass, the longest text first, so that a replacement is not replaced again. */
function compileEscape(table: ParamsRule['escape']): (text: string) => string {
  const replacements = new Map(Object.entries(table));
  if (replacements.size === 0) return (text) => text;
  const texts = [...replacements.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(texts.map(escapePattern).join('|'), 'g');
  return (text) => text.replace(pattern, (found) => replacements.get(found) ?? found);
}
