import { encoders, escapePattern, folds } from './encodings.js';
import { fieldPath, type ParamsRule, RecipeError } from './recipe.js';
import type { Param } from './request.js';
import type { Secret } from './secret.js';
import { parseTemplate, type Renderer, renderTemplate, type Template, tokensOf } from './template.js';

/** The parameters stage: selection, order and format. */
export interface ParamsFormat {
  select(params: readonly Param[], secret: Secret): readonly Param[];
  /** The value of `$params` before `encode.block`. */
  writePairs(params: readonly Param[], renderer: Renderer): string;
  /** The value of `$names`. */
  writeNames(params: readonly Param[], renderer: Renderer): string;
  /** The value of `$values`. */
  writeValues(params: readonly Param[], renderer: Renderer): string;
}

/** @throws RecipeError for fields that contradict each other */
export function compileParams(rule: ParamsRule, field = 'params'): ParamsFormat {
  checkParams(rule, field);
  const { names, values, pairSep } = rule;
  const kvSep = names && values ? rule.kvSep : '';
  const pairEnd = parsePairEnd(rule.pairEnd, fieldPath(field, 'pairEnd'));
  const write = compileParamText(rule);
  const writeKey = (name: string) => (names ? write(name) : '') + kvSep;
  const select = compileSelection(rule);
  const order = compileOrder(rule.order, ([name, value]) => writeKey(name) + (values ? write(value) : ''));

  return {
    select: (params, secret) => order(select(params, secret)),
    writePairs(params, renderer) {
      const end = renderTemplate(pairEnd, renderer, () => renderer.secret());
      let text = '';
      let separator = '';
      for (const [name, value] of params) {
        text +=
          separator + renderer.open(writeKey(name)) + (values ? renderer.value(value, write) : '') + end;
        separator = renderer.open(pairSep);
      }
      return text;
    },
    writeNames: (params, renderer) => renderer.open(params.map(([name]) => write(name)).join(pairSep)),
    writeValues: (params, renderer) =>
      params.map(([, value]) => renderer.value(value, write)).join(renderer.open(pairSep)),
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

type Compare = (a: Param, b: Param) => number;

/** Sorts entries into the recipe's order, in place; `writePair` gives the sort key of `pair`. */
export function compileOrder(
  order: ParamsRule['order'],
  writePair: (entry: Param) => string,
): (entries: Param[]) => Param[] {
  if (order === 'sent') return (entries) => entries;
  const compare = compileCompare(order, writePair);
  return (entries) => entries.sort(compare);
}

function compileCompare(
  order: Exclude<ParamsRule['order'], 'sent'>,
  writePair: (entry: Param) => string,
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

/**
 * Selects parameters, in request order: `nameCase`, then `exclude`, `include`, a fixed `order` and `empty`, then
 * `joinRepeated`; the secret is last. The caller may change the list.
 */
export function compileSelection(rule: ParamsRule): (params: readonly Param[], secret: Secret) => Param[] {
  const { nameCase, joinRepeated, secretAs } = rule;
  const takesPart = compileFilter(rule);
  return (params, secret) => {
    const folded = nameCase === 'none' ? params : foldNames(params, folds[nameCase]);
    const named = folded.filter(takesPart);
    const kept = joinRepeated === null ? named : joinValues(named, joinRepeated);
    if (secretAs !== null) kept.push([secretAs, secret.reveal()]);
    return kept;
  };
}

function compileFilter({ exclude, include, order, empty }: ParamsRule): (param: Param) => boolean {
  const excluded = new Set(exclude);
  const lists = [include, order].filter((list) => Array.isArray(list)).map((list) => new Set(list));
  return ([name, value]) =>
    (empty === 'keep' || value !== '') && !excluded.has(name) && lists.every((list) => list.has(name));
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
