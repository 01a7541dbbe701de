import type { Algorithm, Output } from '../digest-algorithms.js';
import { compileSteps, type Step } from '../digest-steps.js';
import type { Case, TextEncoding } from '../encodings.js';
import { compileAdded, compileNames, compileParams, prefixesIn } from '../params.js';
import type { KeyDecoding, KeyRule, Order, ParamsRule, Recipe } from '../recipe.js';
import {
  modifiers,
  parseTemplate,
  parseTemplates,
  type Template,
  type TextChange,
  type Token,
} from '../template.js';

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
  /** `null` keeps the request order; a list has each name once. Texts are compared by UTF-16 code unit. */
  readonly order: SortKey | readonly string[] | null;
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

/** The sort key of a pair: an expression of `name` and `value`. */
interface SortKey {
  readonly key: Expression;
}

/** A text, or bytes where `isBytes` says so. `isAscii` is whether a text certainly has no other characters. */
export type Expression =
  | { readonly is: 'literal'; readonly text: string }
  | { readonly is: 'variable'; readonly name: string; readonly isBytes: boolean; readonly isAscii: boolean }
  /** `search` is `?` and the query, or nothing. */
  | { readonly is: 'method' | 'url' | 'body' | 'secret' | 'host' | 'query' | 'search' }
  | { readonly is: 'path'; readonly basePath: string }
  | { readonly is: 'param' | 'extra'; readonly name: string }
  | { readonly is: 'join'; readonly parts: readonly Expression[] }
  /** `write` of a text, where the rule has such a function. */
  | { readonly is: 'written'; readonly of: Expression; readonly isAscii: boolean }
  /** One text of all pairs: `each` is an expression of `name` and `value`. */
  | { readonly is: 'pairs'; readonly each: Expression; readonly separator: string }
  | {
      readonly is: 'escape';
      readonly of: Expression;
      readonly table: readonly (readonly [from: string, to: string])[];
    }
  | { readonly is: 'change'; readonly of: Expression; readonly change: TextOperation }
  | { readonly is: 'slice'; readonly of: Expression; readonly from: number; readonly to: number }
  /** The bytes of a key that is written as text. */
  | { readonly is: 'decode'; readonly of: Expression; readonly decoding: KeyDecoding }
  | {
      readonly is: 'digest';
      readonly of: Expression;
      readonly algorithm: Algorithm;
      /** The bytes of an HMAC key; null for a plain digest. */
      readonly key: Expression | null;
      readonly format: Output | 'raw';
    };

export type TextOperation = 'upper' | 'lower' | Exclude<TextEncoding, 'none'> | 'base64' | 'reverse' | 'json';

export function isBytes(expression: Expression): boolean {
  switch (expression.is) {
    case 'variable':
      return expression.isBytes;
    case 'join':
      return expression.parts.some(isBytes);
    case 'digest':
      return expression.format === 'raw';
    default:
      return expression.is === 'decode';
  }
}

export function isAscii(expression: Expression): boolean {
  switch (expression.is) {
    case 'literal':
      return /^[\0-\x7f]*$/.test(expression.text);
    case 'variable':
    case 'written':
      return expression.isAscii;
    case 'join':
      return expression.parts.every(isAscii);
    case 'pairs':
      return isAscii(expression.each) && isAscii(literal(expression.separator));
    case 'change':
      return !/^(upper|lower|reverse|json)$/.test(expression.change) || isAscii(expression.of);
    case 'slice':
      return isAscii(expression.of);
    default:
      return expression.is === 'digest';
  }
}

/** @throws RecipeError for an invalid recipe */
export function operationsOf(recipe: Recipe): Operations {
  const { basePath, encode, key, sub } = recipe;
  compileParams(recipe.params);
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
  const once = <T>(make: () => T): (() => T) => {
    const made: T[] = [];
    return () => {
      const [value = make()] = made;
      made[0] = value;
      return value;
    };
  };

  const takeQuery = once(() => operations.unshift({ set: 'query' }));
  const selectPairs = once(() => {
    const add = compileAdded(recipe.params).map(({ name, value, isOptional }) => ({
      name,
      value: text(value),
      isOptional,
    }));
    return operations.push({ set: 'pairs', ...selectionOf(recipe.params, written), add });
  });
  const block = once(() => {
    selectPairs();
    const pairs: Expression = {
      is: 'pairs',
      each: pairOf(recipe.params, written),
      separator: recipe.params.pairSep,
    };
    return set('block', changed(pairs, encode.block));
  });
  const list = (each: Expression): Expression => {
    selectPairs();
    return { is: 'pairs', each, separator: recipe.params.pairSep };
  };
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
    if (sub === null) return literal('');
    return set(
      'sub',
      digestOf(text(parseTemplates(sub.message, 'sub.message')), compileSteps(sub.steps, null), subKeyBytes),
    );
  });

  const plain = set('message', text(parseTemplates(recipe.message, 'message', recipe.join)));
  const encoded = changed(plain, encode.message);
  const message = encode.lower ? changed(encoded, 'lower') : encoded;
  set('signature', digestOf(message, compileSteps(recipe.steps, recipe.output)));
  return operations;
}

function literal(text: string): Expression {
  return { is: 'literal', text };
}

const pairName: Expression = { is: 'variable', name: 'name', isBytes: false, isAscii: false };
const pairValue: Expression = { is: 'variable', name: 'value', isBytes: false, isAscii: false };

/** Parts one after the other; adjacent literals are one. */
function join(parts: readonly Expression[]): Expression {
  const joined: Expression[] = [];
  for (const part of parts.flatMap((one) => (one.is === 'join' ? one.parts : [one]))) {
    const last = joined.at(-1);
    if (part.is === 'literal' && last?.is === 'literal')
      joined[joined.length - 1] = literal(last.text + part.text);
    else if (part.is !== 'literal' || part.text !== '') joined.push(part);
  }
  const [first = literal('')] = joined;
  return joined.length < 2 ? first : { is: 'join', parts: joined };
}

function changed(of: Expression, change: TextOperation | 'none'): Expression {
  return change === 'none' ? of : { is: 'change', of, change };
}

function textOf(template: Template, read: (token: Token) => Expression): Expression {
  return join(
    template.map((part) =>
      typeof part === 'string' ? literal(part) : part.changes.reduce(modified, read(part)),
    ),
  );
}

/** A text changed by a modifier of a token. */
function modified(of: Expression, change: TextChange): Expression {
  const [name = ''] = [...modifiers].find(([, known]) => known === change) ?? [];
  const [, algorithm = '', format = 'hex'] =
    /^(md5|sha\d+)(?::(\w+))?$/.exec(name === 'MD5' ? 'md5:HEX' : name) ?? [];
  if (algorithm === '') return { is: 'change', of, change: name as TextOperation };
  return { is: 'digest', of, algorithm: algorithm as Algorithm, key: null, format: format as Output };
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
      return join([before, text(step.template)]);
    case 'prepend':
      return join([text(step.template), before]);
    case 'slice':
      return { is: 'slice', of: before, from: step.from, to: Math.max(step.from, step.to) };
    default:
      return changed(before, step.kind);
  }
}

/** The name and the value of a pair as they are written. */
interface Written {
  readonly name: () => Expression;
  readonly value: () => Expression;
}

function writersOf(rule: ParamsRule, operations: Operation[]): Written {
  const written = writtenBy(rule, operations);
  const json = (of: Expression) => changed(of, 'json');
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
  const value = changed(changed(escaped, rule.encode), rule.case);
  if (value === given) return (of) => of;
  if (value.is === 'change' && value.of === given) return (of) => changed(of, value.change);
  const write: Operation = { set: 'write', value };
  return (of) => {
    if (!operations.includes(write)) operations.unshift(write);
    return { is: 'written', of, isAscii: isAscii(value) };
  };
}

/** One pair of the parameter block. */
function pairOf(rule: ParamsRule, written: Written): Expression {
  const end = textOf(parseTemplate(rule.pairEnd, 'params.pairEnd'), () => ({ is: 'secret' }));
  return join([sortedPair(rule, written), end]);
}

/** The same without its end: it is the sort key of `pair`. */
function sortedPair({ names, values, kvSep }: ParamsRule, written: Written): Expression {
  return join([
    ...(names ? [written.name()] : []),
    ...(names && values ? [literal(kvSep)] : []),
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
    order: typeof order === 'string' ? sortKey(order, rule, written) : fixedOrder(order),
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

function sortKey(order: Order, rule: ParamsRule, written: Written): SortKey | null {
  switch (order) {
    case 'sent':
      return null;
    case 'name':
      return { key: pairName };
    case 'name-nocase':
      return { key: changed(pairName, 'lower') };
    case 'value':
      return { key: pairValue };
    case 'pair':
      return { key: sortedPair(rule, written) };
    case 'pair-nocase':
      return { key: changed(sortedPair(rule, written), 'lower') };
  }
}
