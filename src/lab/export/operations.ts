import type { KeyedMessage, Step } from '../../core/signing/digest-steps.js';
import type { Order, ParamsRule } from '../../core/signing/recipe.js';
import type { RecipeParts } from '../../core/signing/recipe-parts.js';
import { versionSegment } from '../../core/signing/request.js';
import type { Modifier, Template, Token } from '../../core/signing/template.js';
import { memoize } from '../../core/support/memoize.js';
import {
  call,
  changeOf,
  cutOf,
  digestOf,
  type Expression,
  ifFilled,
  literalOf,
  sumOf,
  textsOf,
  variable,
} from './expressions.js';

/**
 * A signing rule as the statements of one function, in order; the last one returns the signature.
 */
export type Operations = readonly Operation[];

export type Operation =
  | {
      readonly set: 'text' | 'bytes' | 'pairs';
      readonly variable: string;
      readonly value: Expression;
    }
  /** A local function of `parameters`. */
  | {
      readonly set: 'function';
      readonly variable: string;
      readonly parameters: 'text' | 'pair';
      readonly value: Expression;
    }
  | { readonly set: 'signature'; readonly value: Expression };

/** The operations of a recipe; `usesQuery` is whether its URL comes with the query. */
export function operationsOf(parts: RecipeParts, usesQuery: boolean): Operations {
  const { basePath, encode, params: rule } = parts.recipe;
  const operations: Operation[] = [];
  const once = <T>(make: () => T): (() => T) => memoize<void, T>(make);

  const free = (wanted: string): string => {
    const taken = operations.filter(
      (operation) =>
        'variable' in operation && operation.variable.replace(/(?<!\d)\d+$/, '') === wanted,
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
  const writeJson = (of: Expression, isJson: boolean) =>
    write(isJson ? call('json_string', [of]) : of);
  const writtenName = () => writeJson(pairName, rule.json === 'both');
  const writtenValue = () => {
    const value = writeJson(pairValue, rule.json !== 'none');
    return rule.lengths ? sumOf([changeOf(value, 'length'), value]) : value;
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
      case 'name-desc':
        return define('sort_key', 'pair', pairName);
      case 'name-nocase':
        return define('sort_key', 'pair', changeOf(pairName, 'lower'));
      case 'value':
        return define('sort_key', 'pair', pairValue);
      case 'pair':
        return pairText();
      case 'pair-nocase': {
        const written: Expression = { is: 'apply', name: pairText(), given: [pairName, pairValue] };
        return define('sort_key', 'pair', changeOf(written, 'lower'));
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
    if (typeof order !== 'string')
      on(true, 'in_order', textsOf([...new Set(order.toReversed())].reverse()));
    else if (order !== 'sent') on(true, 'sort_by', variable(sortKey(order)));
    on(order === 'name-desc', 'reversed_pairs');
    operations.push({ set: 'pairs', variable: 'pairs', value: pairs });
    return variable('pairs');
  });
  const list = (wanted: string, each: () => Expression): Expression => {
    const pairs = selected();
    const value = each();
    const isAscii = value.isAscii === true && literalOf(rule.pairSep).isAscii === true;
    return call(
      'join_pairs',
      [pairs, literalOf(rule.pairSep), variable(define(wanted, 'pair', value))],
      {
        isAscii,
      },
    );
  };
  const block = once(() => {
    const pair = () => sumOf([sortedPair(), text(parts.params.pairEnd)]);
    return set('block', changeOf(list('pair', pair), encode.block));
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
      case 'endpoint':
        return call('from_segment', [call('path', [url()]), literalOf(versionSegment)]);
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
      const decoded = {
        utf8: 'utf8',
        hex: 'from_hex',
        base64: 'from_base64',
        base64url: 'from_base64',
      }[decode];
      const written = argument(`${name}_text`, text(key));
      return set(name, call(decoded, [written], { isBytes: true }));
    });
  const keyBytes = bytesOf('key', parts);
  /** The last step is a value, which the caller sets. */
  const digested = (
    message: Expression,
    steps: readonly Step[],
    keyOf: () => Expression,
  ): Expression =>
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
        return changeOf(before, step.kind);
    }
  };
  const subDigest = memoize((name: string): Expression => {
    const sub = parts.subs.get(name);
    if (sub === undefined) return literalOf('');
    const keyOf = sub.key === parts.key ? keyBytes : bytesOf('sub_key', sub);
    return set('sub', digested(argument('sub_message', text(sub.message)), sub.steps, keyOf));
  });

  const encoded = changeOf(set('message', text(parts.message)), encode.message);
  const message = encode.lower ? changeOf(encoded, 'lower') : encoded;
  operations.push({ set: 'signature', value: digested(message, parts.steps, keyBytes) });
  return operations;
}

const pairName = variable('name');
const pairValue = variable('value');

function textOf(
  template: Template,
  read: (token: Token) => Expression,
  set: (wanted: string, value: Expression) => Expression,
): Expression {
  const modified = (of: Expression, { does }: Modifier) =>
    typeof does === 'string' ? changeOf(of, does) : digestOf(of, does.algorithm, does.format, null);
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
function textWriter(
  rule: ParamsRule,
  define: (value: Expression) => string,
): (of: Expression) => Expression {
  const { '': empty = '', ...table } = rule.escape;
  const rows = Object.entries(table).sort(([a], [b]) => b.length - a.length);
  const write = (of: Expression) => {
    const encoded = changeOf(of, rule.encode);
    const escaped =
      rows.length === 0 ? encoded : call('replace_all', [encoded, { is: 'table', rows }]);
    return changeOf(empty === '' ? escaped : ifFilled(of, escaped, empty), rule.case);
  };
  const value = write(variable('text'));
  if (value.is !== 'call' || value.given.every(({ is }) => is !== 'call')) return write;
  return (of) => ({
    is: 'apply',
    name: define(value),
    given: [of],
    isAscii: value.isAscii === true,
  });
}
