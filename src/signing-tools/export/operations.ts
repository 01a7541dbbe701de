import type { Algorithm, Output } from '../../signing/digest-algorithms.js';
import type { KeyedMessage, Step } from '../../signing/digest-steps.js';
import type { BlockEncoding, Case } from '../../signing/encodings.js';
import type { Order, ParamsRule } from '../../signing/recipe.js';
import type { RecipeParts } from '../../signing/recipe-parts.js';
import type { Modifier, Template, Token } from '../../signing/template.js';
import { memoize } from '../../support/memoize.js';

/** A signing rule as the statements of one function, in order; the last one returns the signature. */
export type Operations = readonly Operation[];

export type Operation =
  | { readonly set: 'text' | 'bytes' | 'pairs'; readonly variable: string; readonly value: Expression }
  /** A local function of `parameters`. */
  | {
      readonly set: 'function';
      readonly variable: string;
      readonly parameters: 'text' | 'pair';
      readonly value: Expression;
    }
  | { readonly set: 'signature'; readonly value: Expression };

/**
 * A value: text, or bytes where `isBytes` says so. `isAscii`: a text that certainly has no other characters. A sum is
 * the whole of a statement, never a part of an expression.
 */
export type Expression = (
  | { readonly is: 'literal'; readonly text: string }
  | { readonly is: 'number'; readonly value: number }
  | { readonly is: 'texts'; readonly texts: readonly string[] }
  | { readonly is: 'table'; readonly rows: readonly (readonly [from: string, to: string])[] }
  | { readonly is: 'algorithm'; readonly algorithm: Algorithm; readonly isKeyed: boolean }
  /** A parameter of the function, or what a statement before has set. */
  | { readonly is: 'variable'; readonly name: string }
  /** A call of a function that the template of each language has. */
  | { readonly is: 'call'; readonly name: string; readonly given: readonly Expression[] }
  | { readonly is: 'apply'; readonly name: string; readonly given: readonly Expression[] }
  | { readonly is: 'sum'; readonly parts: readonly Expression[] }
) &
  TypeOfValue;

interface TypeOfValue {
  readonly isBytes?: boolean | undefined;
  readonly isAscii?: boolean | undefined;
}

/** The operations of a recipe; `usesQuery` is whether its URL comes with the query. */
export function operationsOf(parts: RecipeParts, usesQuery: boolean): Operations {
  const { basePath, encode, params: rule } = parts.recipe;
  const operations: Operation[] = [];
  const once = <T>(make: () => T): (() => T) => memoize<void, T>(make);

  const free = (wanted: string): string => {
    const taken = operations.filter(
      (operation) => 'variable' in operation && operation.variable.replace(/(?<!\d)\d+$/, '') === wanted,
    );
    return taken.length === 0 ? wanted : `${wanted}${taken.length + 1}`;
  };
  const set = (wanted: string, value: Expression): Expression => {
    if (value.is === 'variable') return value;
    const name = free(wanted);
    operations.push({ set: value.isBytes ? 'bytes' : 'text', variable: name, value });
    return variable(name, value);
  };
  /** A local function, defined once for the same value. */
  const define = (wanted: string, parameters: 'text' | 'pair', value: Expression): string => {
    const same = operations.find(
      (operation) =>
        operation.set === 'function' && JSON.stringify(operation.value) === JSON.stringify(value),
    );
    if (same?.set === 'function') return same.variable;
    const name = free(wanted);
    operations.push({ set: 'function', variable: name, parameters, value });
    return name;
  };
  const write = textWriter(rule, (value) => define('write', 'text', value));
  const writeJson = (of: Expression, isJson: boolean) => write(isJson ? call('json_string', [of]) : of);
  const writtenName = () => writeJson(pairName, rule.json === 'both');
  const writtenValue = () => {
    const value = writeJson(pairValue, rule.json !== 'none');
    return rule.lengths ? sumOf([changed(value, 'length'), value]) : value;
  };
  /** A pair without its end: the sort key of `pair`. */
  const sortedPair = () =>
    sumOf([
      ...(rule.names ? [writtenName()] : []),
      ...(rule.names && rule.values ? [literalOf(rule.kvSep)] : []),
      ...(rule.values ? [writtenValue()] : []),
    ]);
  const sortKey = (order: Exclude<Order, 'sent'>): string => {
    const pairText = () => define('pair', 'pair', sortedPair());
    switch (order) {
      case 'name':
        return define('sort_key', 'pair', pairName);
      case 'name-nocase':
        return define('sort_key', 'pair', changed(pairName, 'lower'));
      case 'value':
        return define('sort_key', 'pair', pairValue);
      case 'pair':
        return pairText();
      case 'pair-nocase': {
        const written: Expression = { is: 'apply', name: pairText(), given: [pairName, pairValue] };
        return define('sort_key', 'pair', changed(written, 'lower'));
      }
    }
  };

  const sent = variable('params');
  const selected = once((): Expression => {
    const { nameCase, exclude, include, empty, joinRepeated, order } = rule;
    const on = (condition: boolean, name: string, ...given: Expression[]) => {
      if (condition) pairs = call(name, [pairs, ...given]);
    };
    let pairs: Expression = call('pairs_of', [sent]);
    on(nameCase !== 'none', `${nameCase}_names`);
    on(exclude.length > 0, 'without', textsOf(exclude));
    on(include !== null, 'only', textsOf(include ?? []));
    on(empty === 'drop', 'drop_empty');
    on(joinRepeated !== null, 'join_repeated', literalOf(joinRepeated ?? ''));
    for (const { name, value } of parts.params.added)
      on(true, 'with_pair', literalOf(name), argument('added', text(value)));
    on(empty === 'drop' && parts.params.added.length > 0, 'drop_empty');
    // A name that is listed twice has its last place.
    if (typeof order !== 'string') on(true, 'in_order', textsOf([...new Set(order.toReversed())].reverse()));
    else if (order !== 'sent') on(true, 'sort_by', variable(sortKey(order)));
    operations.push({ set: 'pairs', variable: 'pairs', value: pairs });
    return variable('pairs');
  });
  const list = (wanted: string, each: () => Expression): Expression => {
    const pairs = selected();
    const value = each();
    const isAscii = value.isAscii === true && literalOf(rule.pairSep).isAscii === true;
    return call('join_pairs', [pairs, literalOf(rule.pairSep), variable(define(wanted, 'pair', value))], {
      isAscii,
    });
  };
  const block = once(() => {
    const pair = () => sumOf([sortedPair(), text(parts.params.pairEnd)]);
    return set('block', changed(list('pair', pair), encode.block));
  });

  const query = once(() => set('query', call('query_of', [variable('url')])));
  const url = once(() =>
    usesQuery ? set('address', call('without_query', [variable('url')])) : variable('url'),
  );
  const read = ({ source, name, optional }: Token): Expression => {
    switch (source) {
      case 'params':
        return block();
      case 'names':
        return list('name_text', writtenName);
      case 'values':
        return list('value_text', writtenValue);
      case 'sub':
        return subDigest(name);
      case 'query':
        return query();
      case 'url':
        return url();
      case 'host':
        return call('host', [url()]);
      case 'path': {
        const path = call('path', [url()]);
        return basePath === '' ? path : call('without_prefix', [path, literalOf(basePath)]);
      }
      case 'param':
      case 'extra': {
        const from = source === 'param' ? sent : variable('extra');
        const find = source === 'param' ? 'param' : 'extra_value';
        return call(optional === null ? find : `optional_${find}`, [from, literalOf(name)]);
      }
      case 'body':
        return call('text_of', [variable('body')]);
      case 'method':
      case 'secret':
        return variable(source);
    }
  };
  const text = (template: Template): Expression => textOf(template, read, argument);
  /** A sum in a variable of its own. */
  function argument(wanted: string, value: Expression): Expression {
    return value.is === 'sum' ? set(wanted, value) : value;
  }
  const bytesOf = (name: string, { key, decode }: KeyedMessage) =>
    once(() => {
      const decoded = { utf8: 'utf8', hex: 'from_hex', base64: 'from_base64', base64url: 'from_base64' }[
        decode
      ];
      const written = argument(`${name}_text`, text(key));
      return set(name, call(decoded, [written], { isBytes: true }));
    });
  const keyBytes = bytesOf('key', parts);
  /** The last step is a value, which the caller sets. */
  const digested = (message: Expression, steps: readonly Step[], keyOf: () => Expression): Expression =>
    steps.reduce((before, step, index) => {
      const value = stepped(before, step, keyOf);
      return index === steps.length - 1 ? value : set('result', value);
    }, message);
  const stepped = (before: Expression, step: Step, keyOf: () => Expression): Expression => {
    switch (step.kind) {
      case 'digest':
        return digestOf(before, step.algorithm, step.format, step.hmac ? keyOf() : null);
      case 'append':
        return sumOf([before, text(step.template)]);
      case 'prepend':
        return sumOf([text(step.template), before]);
      case 'slice':
        return cutOf(before, step.from, Math.max(step.from, step.to));
      default:
        return changed(before, step.kind);
    }
  };
  const subDigest = memoize((name: string): Expression => {
    const sub = parts.subs.get(name);
    if (sub === undefined) return literalOf('');
    const keyOf = sub.key === parts.key ? keyBytes : bytesOf('sub_key', sub);
    return set('sub', digested(argument('sub_message', text(sub.message)), sub.steps, keyOf));
  });

  const encoded = changed(set('message', text(parts.message)), encode.message);
  const message = encode.lower ? changed(encoded, 'lower') : encoded;
  operations.push({ set: 'signature', value: digested(message, parts.steps, keyBytes) });
  return operations;
}

const pairName = variable('name');
const pairValue = variable('value');

export function literalOf(text: string): Expression {
  return { is: 'literal', text, isAscii: /^[\0-\x7f]*$/.test(text) };
}

function textsOf(texts: readonly string[]): Expression {
  return { is: 'texts', texts: [...new Set(texts)] };
}

function variable(name: string, { isBytes = false, isAscii = false }: TypeOfValue = {}): Expression {
  return { is: 'variable', name, isBytes, isAscii };
}

function call(
  name: string,
  given: readonly Expression[],
  { isBytes = false, isAscii = false }: TypeOfValue = {},
): Expression {
  return { is: 'call', name, given, isBytes, isAscii };
}

/** Parts one after the other, in bytes if one of them is; adjacent literals are one. */
function sumOf(parts: readonly Expression[]): Expression {
  const joined: Expression[] = [];
  for (const part of parts.flatMap((one) => (one.is === 'sum' ? one.parts : [one]))) {
    const last = joined.at(-1);
    if (part.is === 'literal' && last?.is === 'literal')
      joined[joined.length - 1] = literalOf(last.text + part.text);
    else if (part.is !== 'literal' || part.text !== '') joined.push(part);
  }
  const [first = literalOf('')] = joined;
  if (joined.length < 2) return first;
  const isBytes = joined.some((part) => part.isBytes);
  const isAscii = joined.every((part) => part.isAscii);
  return { is: 'sum', parts: isBytes ? joined.map(bytes) : joined, isBytes, isAscii };
}

function bytes(of: Expression): Expression {
  return of.isBytes ? of : call('utf8', [of], { isBytes: true });
}

/** A part of an ASCII text. */
function cutOf(of: Expression, from: number, to: number): Expression {
  const ends = [from, to].map((value) => ({ is: 'number', value }) as const);
  return call('cut', [of, ...ends], { isAscii: true });
}

type Change = Case | BlockEncoding | Extract<Modifier['does'], string>;

function changed(of: Expression, change: Change): Expression {
  switch (change) {
    case 'none':
      return of;
    case 'upper':
    case 'lower':
      return call(of.isAscii ? `${change}_ascii` : change, [of], of);
    case 'reverse':
      return call('reverse', [of], of);
    case 'sorted':
      return call('sorted_pairs', [of], of);
    case 'base64':
      return call('to_base64', [bytes(of)], { isAscii: true });
    case 'date':
      return cutOf(call('digits', [of]), 0, 8);
    case 'length':
      return call('length_of', [bytes(of)], { isAscii: true });
    default:
      return call(change.replace('-', '_'), [of], { isAscii: true });
  }
}

function digestOf(
  of: Expression,
  algorithm: Algorithm,
  format: Output | 'raw',
  key: Expression | null,
): Expression {
  const name: Expression = { is: 'algorithm', algorithm, isKeyed: key !== null };
  const digest =
    key === null ? call('digest', [name, bytes(of)]) : call('keyed_digest', [name, key, bytes(of)]);
  const written = (as: string) => call(as, [digest], { isAscii: true });
  switch (format) {
    case 'raw':
      return { ...digest, isBytes: true };
    case 'HEX':
      return changed(written('to_hex'), 'upper');
    case 'base64-of-hex':
      return changed(written('to_hex'), 'base64');
    default:
      return written(`to_${format}`);
  }
}

/** The other text where a value is empty, else the text. */
function ifFilled(value: Expression, text: Expression, other: string): Expression {
  const instead = literalOf(other);
  return call('if_filled', [value, text, instead], { isAscii: text.isAscii && instead.isAscii });
}

function textOf(
  template: Template,
  read: (token: Token) => Expression,
  set: (wanted: string, value: Expression) => Expression,
): Expression {
  const modified = (of: Expression, { does }: Modifier) =>
    typeof does === 'string' ? changed(of, does) : digestOf(of, does.algorithm, does.format, null);
  return sumOf(
    template.parts.map((part) => {
      if (typeof part === 'string') return literalOf(part);
      const given = read(part);
      const value = part.changes.reduce(modified, given);
      const { optional } = part;
      if (optional === null) return value;
      const around = sumOf([literalOf(optional.before), value, literalOf(optional.after)]);
      return ifFilled(given, set('optional', around), optional.other);
    }),
  );
}

/** The writer of names and values: a local function if that takes more than one change. */
function textWriter(rule: ParamsRule, define: (value: Expression) => string): (of: Expression) => Expression {
  const { '': empty = '', ...table } = rule.escape;
  const rows = Object.entries(table).sort(([a], [b]) => b.length - a.length);
  const write = (of: Expression) => {
    const encoded = changed(of, rule.encode);
    const escaped = rows.length === 0 ? encoded : call('replace_all', [encoded, { is: 'table', rows }]);
    return changed(empty === '' ? escaped : ifFilled(of, escaped, empty), rule.case);
  };
  const value = write(variable('text'));
  if (value.is !== 'call' || value.given.every(({ is }) => is !== 'call')) return write;
  return (of) => ({ is: 'apply', name: define(value), given: [of], isAscii: value.isAscii === true });
}
