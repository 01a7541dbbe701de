import { byteLength, encoders, escapePattern, folds } from './encodings.js';
import { fieldPath, type ParamsRule, RecipeError } from './recipe.js';
import { openSources, type Source } from './recipe-language.js';
import { isInForm, type Param, type Place, withName } from './request.js';
import { parseTemplate, type Renderer, renderTemplate, type Template } from './template.js';

/** A parameter that is signed; `shown` is a value of the rule's own as it may be shown. */
export type SignedParam = readonly [name: string, value: string, place?: Place, shown?: string];

/** A parameter of the rule's own. */
export interface AddedParam {
  readonly name: string;
  readonly value: Template;
}

/** The parameters stage: selection, order and format. */
export interface ParamsFormat {
  readonly added: readonly AddedParam[];
  readonly pairEnd: Template;
  select(params: readonly Param[], added: readonly SignedParam[]): readonly SignedParam[];
  /** The value of `$params` before `encode.block`. */
  writePairs(params: readonly SignedParam[], renderer: Renderer): string;
  /** The value of `$names`. */
  writeNames(params: readonly SignedParam[], renderer: Renderer): string;
  /** The value of `$values`. */
  writeValues(params: readonly SignedParam[], renderer: Renderer): string;
}

/** @throws RecipeError for fields that contradict each other */
export function compileParams(rule: ParamsRule, field = 'params'): ParamsFormat {
  checkParams(rule, field);
  const { names, values, pairSep } = rule;
  const kvSep = names && values ? rule.kvSep : '';
  const pairEnd = parseTemplate(rule.pairEnd, fieldPath(field, 'pairEnd'));
  if (pairEnd.tokens.some(({ source }) => source !== 'secret'))
    throw new RecipeError(fieldPath(field, 'pairEnd'), 'takes no token but $secret');
  const { writeName, writeValue } = compileWriters(rule);
  const writeKey = (name: string) => (names ? writeName(name) : '') + kvSep;
  const select = compileSelection(rule);
  const order = compileOrder(
    rule.order,
    ([name, value]) => writeKey(name) + (values ? writeValue(value) : ''),
  );
  const change = { apply: writeValue, local: rule.json === 'none' && !rule.lengths };
  const writtenValue = ([, value, , shown]: SignedParam, renderer: Renderer) =>
    shown === undefined ? renderer.value(value, writeValue) : renderer.change(shown, change);

  return {
    added: compileAdded(rule, field),
    pairEnd,
    select: (params, added) => order(select(params, added)),
    writePairs(params, renderer) {
      const end = renderTemplate(pairEnd, renderer, () => renderer.secret());
      let text = '';
      let separator = '';
      for (const param of params) {
        text +=
          separator +
          renderer.open(writeKey(param[0])) +
          (values ? writtenValue(param, renderer) : '') +
          end;
        separator = renderer.open(pairSep);
      }
      return text;
    },
    writeNames: (params, renderer) =>
      renderer.open(params.map(([name]) => writeName(name)).join(pairSep)),
    writeValues: (params, renderer) =>
      params.map((param) => writtenValue(param, renderer)).join(renderer.open(pairSep)),
  };
}

function checkParams(rule: ParamsRule, field: string): void {
  if (!rule.names && !rule.values) {
    throw new RecipeError(field, 'names and values are both false', 'Set one of them to true.');
  }
  const { order } = rule;
  const missing = Object.keys(rule.add).find(
    (name) => Array.isArray(order) && !order.includes(name),
  );
  if (missing === undefined) return;
  throw new RecipeError(
    fieldPath(field, 'add'),
    `${missing} is not in the order`,
    'Add it to params.order, where it stands.',
  );
}

/**
 * Sources of a value that the rule adds: not the parameters themselves, nor what may consist of
 * them.
 */
const addedSources: ReadonlySet<Source> = new Set([...openSources, 'secret', 'body']);

export function compileAdded({ add }: ParamsRule, field = 'params'): AddedParam[] {
  return Object.entries(add).map(([name, text]) => {
    const at = fieldPath(fieldPath(field, 'add'), name);
    const value = parseTemplate(text, at);
    const other = value.tokens.find(({ source }) => !addedSources.has(source));
    if (other !== undefined) throw new RecipeError(at, `takes no $${other.source}`);
    return { name, value };
  });
}

type Compare = (a: SignedParam, b: SignedParam) => number;

/** Sorts entries into the recipe's order, in place; `writePair` gives the sort key of `pair`. */
export function compileOrder(
  order: ParamsRule['order'],
  writePair: (entry: SignedParam) => string,
): <T extends SignedParam>(entries: T[]) => T[] {
  if (order === 'sent') return (entries) => entries;
  const compare = compileCompare(order, writePair);
  // From back to front, parameters of one name are, too.
  if (order === 'name-desc') return (entries) => entries.reverse().sort(compare);
  return (entries) => entries.sort(compare);
}

function compileCompare(
  order: Exclude<ParamsRule['order'], 'sent'>,
  writePair: (entry: SignedParam) => string,
): Compare {
  switch (order) {
    case 'name':
      return (a, b) => compareTexts(a[0], b[0]);
    case 'name-desc':
      return (a, b) => compareTexts(b[0], a[0]);
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
 * Selects parameters, in request order: `from`, then `nameCase`, then `exclude`, `include`, a fixed
 * `order` and `empty`, then `joinRepeated`; those that the rule adds are last. The caller may
 * change the list.
 */
export function compileSelection(
  rule: ParamsRule,
): <T extends SignedParam>(params: readonly Param[], added: readonly T[]) => (Param | T)[] {
  const { nameCase, joinRepeated } = rule;
  const takesPart = compileFilter(rule);
  const fromPlace = selectionByPlace[rule.from];
  return (all, added) => {
    const params = fromPlace(all);
    const fold = folds[nameCase];
    const folded =
      nameCase === 'none' ? params : params.map((param) => withName(param, fold(param[0])));
    const named = folded.filter(takesPart);
    const kept = joinRepeated === null ? named : joinValues(named, joinRepeated);
    return added.length === 0 ? kept : [...kept, ...added];
  };
}

type SelectPlace = (params: readonly Param[]) => readonly Param[];

const selectForm: SelectPlace = (params) => params.filter(isInForm);
const selectQuery: SelectPlace = (params) => params.filter((param) => !isInForm(param));

const selectionByPlace: Readonly<Record<ParamsRule['from'], SelectPlace>> = {
  both: (params) => params,
  query: selectQuery,
  form: selectForm,
  'form-or-query': (params) => (params.some(isInForm) ? selectForm(params) : params),
};

function compileFilter({ exclude, include, order, empty }: ParamsRule): (param: Param) => boolean {
  const isExcluded = compileNames(exclude);
  const isIncluded = include === null ? () => true : compileNames(include);
  const fixed = Array.isArray(order) ? new Set(order) : null;
  return ([name, value]) =>
    (empty === 'keep' || value !== '') &&
    !isExcluded(name) &&
    isIncluded(name) &&
    (fixed === null || fixed.has(name));
}

/** Whether a list has a name: itself, or a beginning of it as `NAME*`. */
export function compileNames(list: readonly string[]): (name: string) => boolean {
  const names = new Set(list);
  const prefixes = prefixesIn(list);
  if (prefixes.length === 0) return (name) => names.has(name);
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** The NAMEs of the entries `NAME*`. */
export function prefixesIn(list: readonly string[]): string[] {
  return list.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
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

/** Format names and values: `json`, then `encode`, then `escape`, then `case`, then `lengths`. */
function compileWriters(rule: ParamsRule) {
  const write = compileParamText(rule);
  const writeJson = (text: string) => write(JSON.stringify(text));
  const writeValue = rule.json === 'none' ? write : writeJson;
  return {
    writeName: rule.json === 'both' ? writeJson : write,
    writeValue: rule.lengths
      ? (text: string) => byteLength(writeValue(text)) + writeValue(text)
      : writeValue,
  };
}

/** Formats a name or a value: `encode`, then `escape`, then `case`. */
export function compileParamText(rule: ParamsRule): (text: string) => string {
  const escapeText = compileEscape(rule.escape);
  const encode = encoders[rule.encode];
  const fold = folds[rule.case];
  const asItIs =
    rule.encode === 'none' && rule.case === 'none' && Object.keys(rule.escape).length === 0;
  return asItIs ? (text) => text : (text) => fold(escapeText(encode(text)));
}

/**
 * Replaces in one pass, the longest text first: a replacement is not replaced again. `''` is a
 * whole that is empty.
 */
function compileEscape({
  '': empty = '',
  ...table
}: ParamsRule['escape']): (text: string) => string {
  const replacements = new Map(Object.entries(table));
  if (replacements.size === 0) return (text) => text || empty;
  const texts = [...replacements.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(texts.map(escapePattern).join('|'), 'g');
  return (text) =>
    text === '' ? empty : text.replace(pattern, (found) => replacements.get(found) ?? found);
}
