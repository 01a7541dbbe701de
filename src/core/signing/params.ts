import { encoders, folds } from './encodings.js';
import { fieldPath, type ParamsRule, RecipeError } from './recipe.js';
import { isInForm, type Param } from './request.js';
import { parseTemplate, type Renderer, type Template } from './template.js';

/** A parameter that is signed. */
export interface SignedParam {
  readonly name: string;
  readonly value: string;
  /** A value of the rule's own as it may be shown. A value of the request is shown as it is. */
  readonly shown?: string;
}

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
  const writtenValue = ({ value, shown }: SignedParam, renderer: Renderer) => {
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
        if (names) text += renderer.showable(writeText(param.name) + kvSep);
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
function compileAdded({ add }: ParamsRule, field = 'params'): AddedParam[] {
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

/** Sorts parameters into the recipe's order, in place. */
export function compileOrder(
  order: ParamsRule['order'],
): (params: SignedParam[]) => readonly SignedParam[] {
  if (order === 'sent') return (params) => params;
  const compare = compileCompare(order);
  // Reversing first also reverses the parameters that share a name.
  if (order === 'name-desc') return (params) => params.reverse().sort(compare);
  return (params) => params.sort(compare);
}

function compileCompare(order: Exclude<ParamsRule['order'], 'sent'>): Compare {
  switch (order) {
    case 'name':
      return (a, b) => compareTexts(a.name, b.name);
    case 'name-desc':
      return (a, b) => compareTexts(b.name, a.name);
    case 'value':
      return (a, b) => compareTexts(a.value, b.value);
    default: {
      const rank = new Map(order.map((name, index) => [name, index]));
      return (a, b) => (rank.get(a.name) ?? 0) - (rank.get(b.name) ?? 0);
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
): (params: readonly Param[], added: readonly SignedParam[]) => SignedParam[] {
  const isUpper = rule.nameCase === 'upper';
  const takesPart = compileFilter(rule);
  const selectSource = selectionBySource[rule.from];
  return (params, added) => {
    const selected: SignedParam[] = [];
    for (const sent of selectSource(params)) {
      const param = { name: isUpper ? folds.upper(sent[0]) : sent[0], value: sent[1] };
      if (takesPart(param)) selected.push(param);
    }
    if (added.length > 0) selected.push(...added);
    return selected;
  };
}

type SelectSource = (params: readonly Param[]) => readonly Param[];

const selectForm: SelectSource = (params) => params.filter(isInForm);
const selectQuery: SelectSource = (params) => params.filter((param) => !isInForm(param));

const selectionBySource: Readonly<Record<ParamsRule['from'], SelectSource>> = {
  both: (params) => params,
  query: selectQuery,
  form: selectForm,
  'form-or-query': (params) => (params.some(isInForm) ? selectForm(params) : params),
};

function compileFilter({
  exclude,
  include,
  order,
  empty,
}: ParamsRule): (param: SignedParam) => boolean {
  const excluded = new Set(exclude);
  const included = include === null ? null : new Set(include);
  const fixed = Array.isArray(order) ? new Set(order) : null;
  return ({ name, value }) =>
    (empty === 'keep' || value !== '') &&
    !excluded.has(name) &&
    (included === null || included.has(name)) &&
    (fixed === null || fixed.has(name));
}
