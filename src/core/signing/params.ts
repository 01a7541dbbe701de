import { encoders, folds } from './encodings.js';
import { fieldPath, type ParamsRule, RecipeError } from './recipe.js';
import { isInForm, type Param, type Place, withName } from './request.js';
import { parseTemplate, type Renderer, type Template } from './template.js';

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
  select(params: readonly Param[], added: readonly SignedParam[]): readonly SignedParam[];
  /** The value of `$params`. */
  write(params: readonly SignedParam[], renderer: Renderer): string;
}

/**
 * Compiles the parameters of a recipe. `writeText` encodes a name or a value; by default as the rule
 * says.
 *
 * @throws RecipeError for fields that contradict each other
 */
export function compileParams(
  rule: ParamsRule,
  field = 'params',
  writeText = encoders[rule.encode],
): ParamsFormat {
  checkAddedOrder(rule, field);
  const { names, kvSep, pairSep } = rule;
  const select = compileSelection(rule);
  const order = compileOrder(rule.order);
  const change = { apply: writeText, local: true };
  const writtenValue = ([, value, , shown]: SignedParam, renderer: Renderer) => {
    if (shown === undefined) return renderer.value(value, writeText);
    return renderer.change(shown, change);
  };

  return {
    added: compileAdded(rule, field),
    select: (params, added) => order(select(params, added)),
    write(params, renderer) {
      let text = '';
      let separator = '';
      for (const param of params) {
        text += separator;
        if (names) text += renderer.showable(writeText(param[0]) + kvSep);
        text += writtenValue(param, renderer);
        separator = renderer.showable(pairSep);
      }
      return text;
    },
  };
}

function checkAddedOrder({ order, add }: ParamsRule, field: string): void {
  const missing = Object.keys(add).find((name) => Array.isArray(order) && !order.includes(name));
  if (missing === undefined) return;
  throw new RecipeError(
    fieldPath(field, 'add'),
    `${missing} is not in the order`,
    'Add it to params.order, where it stands.',
  );
}

/**
 * Parses the values of a rule's own parameters.
 *
 * @throws RecipeError for an unknown token, and for `$params`
 */
export function compileAdded({ add }: ParamsRule, field = 'params'): AddedParam[] {
  return Object.entries(add).map(([name, text]) => {
    const valueField = fieldPath(fieldPath(field, 'add'), name);
    const value = parseTemplate(text, valueField);
    // Not the parameters themselves: they would be a part of themselves.
    if (value.tokens.some(({ source }) => source === 'params'))
      throw new RecipeError(valueField, 'takes no $params');
    return { name, value };
  });
}

type Compare = (a: SignedParam, b: SignedParam) => number;

/** Sorts entries into the recipe's order, in place. */
export function compileOrder(
  order: ParamsRule['order'],
): <T extends SignedParam>(entries: T[]) => T[] {
  if (order === 'sent') return (entries) => entries;
  const compare = compileCompare(order);
  // Reversing first also reverses the parameters that share a name.
  if (order === 'name-desc') return (entries) => entries.reverse().sort(compare);
  return (entries) => entries.sort(compare);
}

function compileCompare(order: Exclude<ParamsRule['order'], 'sent'>): Compare {
  switch (order) {
    case 'name':
      return (a, b) => compareTexts(a[0], b[0]);
    case 'name-desc':
      return (a, b) => compareTexts(b[0], a[0]);
    case 'value':
      return (a, b) => compareTexts(a[1], b[1]);
    default: {
      const rank = new Map(order.map((name, index) => [name, index]));
      return (a, b) => (rank.get(a[0]) ?? 0) - (rank.get(b[0]) ?? 0);
    }
  }
}

/** Compares by UTF-16 code unit, never by locale. */
function compareTexts(a: string, b: string): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return 0;
}

/**
 * Selects parameters, in request order: `from`, then `nameCase`, then `exclude`, `include`, a fixed
 * `order` and `empty`; those that the rule adds are last. The caller may change the list.
 */
export function compileSelection(
  rule: ParamsRule,
): <T extends SignedParam>(params: readonly Param[], added: readonly T[]) => (Param | T)[] {
  const isUpper = rule.nameCase === 'upper';
  const takesPart = compileFilter(rule);
  const fromPlace = selectionByPlace[rule.from];
  return (all, added) => {
    let params = fromPlace(all);
    if (isUpper) params = params.map((param) => withName(param, folds.upper(param[0])));
    const selected = params.filter(takesPart);
    if (added.length === 0) return selected;
    return [...selected, ...added];
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
  const excluded = new Set(exclude);
  const included = include === null ? null : new Set(include);
  const fixed = Array.isArray(order) ? new Set(order) : null;
  return ([name, value]) =>
    (empty === 'keep' || value !== '') &&
    !excluded.has(name) &&
    (included === null || included.has(name)) &&
    (fixed === null || fixed.has(name));
}
