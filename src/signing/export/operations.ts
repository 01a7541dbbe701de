import { memoize } from '../../support/memoize.js';
import { compileSteps, type Step } from '../digest-steps.js';
import type { Case } from '../encodings.js';
import { compileAdded, compileNames, prefixesIn } from '../params.js';
import type { KeyRule, Order, ParamsRule, Recipe } from '../recipe.js';
import { type Modifier, parseTemplate, parseTemplates, type Template, type Token } from '../template.js';
import { changeOf, type Expression, isAscii, isBytes, joinOf, literalOf } from './expression.js';

/** A signing rule as the operations of one function, in order. The value of the last one is the signature. */
export type Operations = readonly Operation[];

/** Sets a variable: the pairs that are signed, a function that writes a name or a value, a text or bytes. */
export type Operation =
  /** Takes the query off the URL: `query` and `url` without it. */
  | { readonly set: 'query' }
  | ({ readonly set: 'pairs' } & PairSelection)
  /** A function of `text`. */
  | { readonly set: 'write'; readonly value: Expression }
  | { readonly set: 'text' | 'bytes'; readonly variable: string; readonly value: Expression };

/** The pairs that are signed: selected from the parameters, in request order, then sorted. */
export interface PairSelection {
  /** Changes the case of every name first; whether the names are ASCII is not known. */
  readonly nameCase: Case;
  /** The conditions of a selected name: all of them. */
  readonly names: readonly NameCondition[];
  readonly dropsEmpty: boolean;
  /** Joins the values of a repeated name, at the place of the first; null keeps them apart. */
  readonly joinRepeated: string | null;
  /** Pairs added at the end. */
  readonly add: readonly AddedPair[];
  /** The names in their order, each once; `null` if the rule fixes none. */
  readonly order: readonly string[] | null;
  /** An expression of `name` and `value`, compared by UTF-16 code unit; without either, the request order is kept. */
  readonly sortKey: Expression | null;
}

/** The only names, or the names left out: those of the list, and those that begin with one of the prefixes. */
interface NameCondition {
  readonly are: 'only' | 'not';
  readonly list: readonly string[];
  readonly prefixes: readonly string[];
}

interface AddedPair {
  readonly name: string;
  readonly value: Expression;
  /** Whether it is left out where its value is empty. */
  readonly isOptional: boolean;
}

/** The operations of a recipe that was compiled. */
export function operationsOf(recipe: Recipe): Operations {
  const { basePath, encode, key, sub } = recipe;
  const operations: Operation[] = [];
  const written = writersOf(recipe.params, operations);

  /** Sets a variable, under a name that is free, and returns it. */
  const set = (wanted: string, value: Expression): Expression => {
    if (value.is === 'variable' && wanted !== 'signature') return value;
    const taken = operations.filter(
      (operation) => 'variable' in operation && operation.variable.replace(/\d+$/, '') === wanted,
    );
    const variable = taken.length === 0 ? wanted : `${wanted}${taken.length + 1}`;
    operations.push({ set: isBytes(value) ? 'bytes' : 'text', variable, value });
    return { is: 'variable', name: variable, isBytes: isBytes(value), isAscii: isAscii(value) };
  };
  const once = <T>(make: () => T): (() => T) => memoize<void, T>(make);

  const takeQuery = once(() => operations.unshift({ set: 'query' }));
  const selectPairs = once(() => {
    const add = compileAdded(recipe.params).map(({ name, value, isOptional }) => ({
      name,
      value: text(value),
      isOptional,
    }));
    return operations.push({ set: 'pairs', ...selectionOf(recipe.params, written), add });
  });
  const list = (each: Expression): Expression => {
    selectPairs();
    return { is: 'pairs', each, separator: recipe.params.pairSep };
  };
  const block = once(() => {
    selectPairs();
    return set('block', changeOf(list(pairOf(recipe.params, written)), encode.block));
  });
  const read = ({ source, name }: Token): Expression => {
    switch (source) {
      case 'params':
        return block();
      case 'names':
        return list(written.name());
      case 'values':
        return list(written.value());
      case 'sub':
        return subDigest();
      case 'query':
      case 'search':
        takeQuery();
        return { is: source };
      case 'path':
        return { is: 'path', basePath };
      case 'param':
      case 'extra':
        return { is: source, name };
      default:
        return { is: source };
    }
  };
  const text = (template: Template) => textOf(template, read);
  const bytesOf = (name: string, { tokens, decode }: KeyRule) =>
    once(() => set(name, { is: 'decode', of: text(parseTemplates(tokens, 'key.tokens')), decoding: decode }));
  const keyBytes = bytesOf('key', key);
  const subKeyBytes = sub?.key === undefined ? keyBytes : bytesOf('subkey', sub.key);
  const digestOf = (
    message: Expression,
    steps: readonly Step[],
    keyOf: () => Expression = keyBytes,
  ): Expression =>
    steps.reduce((before, step, index) => {
      const value = stepOf(before, step, text, keyOf);
      return index === steps.length - 1 ? value : set(step.kind === 'digest' ? 'digest' : 'result', value);
    }, message);
  const subDigest = once(() => {
    if (sub === null) return literalOf('');
    return set(
      'sub',
      digestOf(text(parseTemplates(sub.message, 'sub.message')), compileSteps(sub.steps, null), subKeyBytes),
    );
  });

  const plain = set('message', text(parseTemplates(recipe.message, 'message', recipe.join)));
  const encoded = changeOf(plain, encode.message);
  const message = encode.lower ? changeOf(encoded, 'lower') : encoded;
  set('signature', digestOf(message, compileSteps(recipe.steps, recipe.output)));
  return operations;
}

const pairName: Expression = { is: 'variable', name: 'name', isBytes: false, isAscii: false };
const pairValue: Expression = { is: 'variable', name: 'value', isBytes: false, isAscii: false };

function textOf(template: Template, read: (token: Token) => Expression): Expression {
  return joinOf(
    template.parts.map((part) =>
      typeof part === 'string' ? literalOf(part) : part.changes.reduce(modified, read(part)),
    ),
  );
}

/** A text changed by a modifier of a token. */
function modified(of: Expression, { does }: Modifier): Expression {
  return typeof does === 'string' ? changeOf(of, does) : { is: 'digest', of, key: null, ...does };
}

function stepOf(
  before: Expression,
  step: Step,
  text: (template: Template) => Expression,
  key: () => Expression,
): Expression {
  switch (step.kind) {
    case 'digest': {
      const { algorithm, format, hmac } = step;
      return { is: 'digest', of: before, algorithm, key: hmac ? key() : null, format };
    }
    case 'append':
      return joinOf([before, text(step.template)]);
    case 'prepend':
      return joinOf([text(step.template), before]);
    case 'slice':
      return { is: 'slice', of: before, from: step.from, to: Math.max(step.from, step.to) };
    default:
      return changeOf(before, step.kind);
  }
}

/** The name and the value of a pair as they are written. */
interface Written {
  readonly name: () => Expression;
  readonly value: () => Expression;
}

function writersOf(rule: ParamsRule, operations: Operation[]): Written {
  const written = writtenBy(rule, operations);
  const json = (of: Expression) => changeOf(of, 'json');
  return {
    name: () => written(rule.json === 'both' ? json(pairName) : pairName),
    value: () => written(rule.json === 'none' ? pairValue : json(pairValue)),
  };
}

/** The writer of texts: `write`, an operation of its own, if that takes more than one change. */
function writtenBy(rule: ParamsRule, operations: Operation[]): (of: Expression) => Expression {
  const table = Object.entries(rule.escape).sort(([a], [b]) => b.length - a.length);
  const given: Expression = { is: 'variable', name: 'text', isBytes: false, isAscii: false };
  const escaped: Expression = table.length === 0 ? given : { is: 'escape', of: given, table };
  const value = changeOf(changeOf(escaped, rule.encode), rule.case);
  if (value === given) return (of) => of;
  if (value.is === 'change' && value.of === given) return (of) => changeOf(of, value.change);
  const write: Operation = { set: 'write', value };
  return (of) => {
    if (!operations.includes(write)) operations.unshift(write);
    return { is: 'written', of, isAscii: isAscii(value) };
  };
}

/** One pair of the parameter block. */
function pairOf(rule: ParamsRule, written: Written): Expression {
  const end = textOf(parseTemplate(rule.pairEnd, 'params.pairEnd'), () => ({ is: 'secret' }));
  return joinOf([sortedPair(rule, written), end]);
}

/** The same without its end: it is the sort key of `pair`. */
function sortedPair({ names, values, kvSep }: ParamsRule, written: Written): Expression {
  return joinOf([
    ...(names ? [written.name()] : []),
    ...(names && values ? [literalOf(kvSep)] : []),
    ...(values ? [written.value()] : []),
  ]);
}

function selectionOf(rule: ParamsRule, written: Written): Omit<PairSelection, 'add'> {
  const { order, nameCase, joinRepeated } = rule;
  return {
    nameCase,
    names: nameConditions(rule),
    dropsEmpty: rule.empty === 'drop',
    joinRepeated,
    order: typeof order === 'string' ? null : fixedOrder(order),
    sortKey: typeof order === 'string' ? sortKey(order, rule, written) : null,
  };
}

/** As few as possible: a list of names that are excluded from another list is not needed. */
function nameConditions({ exclude, include, order }: ParamsRule): NameCondition[] {
  const isExcluded = compileNames(exclude);
  const isIncluded = include === null ? () => true : compileNames(include);
  const named = typeof order === 'string' ? (include ?? []).filter((name) => !name.endsWith('*')) : order;
  const list = unique(named.filter((name) => isIncluded(name) && !isExcluded(name)));
  if (typeof order !== 'string') return [{ are: 'only', list, prefixes: [] }];
  const not: NameCondition = { are: 'not', ...namesIn(exclude) };
  const excludes = not.list.length + not.prefixes.length > 0 ? [not] : [];
  if (include === null) return excludes;
  const { prefixes } = namesIn(include);
  return [{ are: 'only', list, prefixes }, ...(prefixes.length === 0 ? [] : excludes)];
}

function namesIn(list: readonly string[]): Pick<NameCondition, 'list' | 'prefixes'> {
  return { list: unique(list.filter((name) => !name.endsWith('*'))), prefixes: unique(prefixesIn(list)) };
}

/** The order of a list; a repeated name has its last place. */
function fixedOrder(names: readonly string[]): readonly string[] | null {
  const order = unique([...names].reverse()).reverse();
  return order.length < 2 ? null : order;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function sortKey(order: Order, rule: ParamsRule, written: Written): Expression | null {
  switch (order) {
    case 'sent':
      return null;
    case 'name':
      return pairName;
    case 'name-nocase':
      return changeOf(pairName, 'lower');
    case 'value':
      return pairValue;
    case 'pair':
      return sortedPair(rule, written);
    case 'pair-nocase':
      return changeOf(sortedPair(rule, written), 'lower');
  }
}
