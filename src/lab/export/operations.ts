import { formNames } from '../../core/contract/endpoints.js';
import type { Step } from '../../core/signing/digest-steps.js';
import type { Order } from '../../core/signing/recipe.js';
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
  /** A local function of a name and a value. */
  | { readonly set: 'function'; readonly variable: string; readonly value: Expression }
  | { readonly set: 'signature'; readonly value: Expression };

/** The operations of a recipe. Its URL may come with the query. */
export function operationsOf(parts: RecipeParts): Operations {
  const { params: rule } = parts.recipe;
  const operations: Operation[] = [];
  const once = <T>(make: () => T): (() => T) => memoize<void, T>(make);

  const free = (wanted: string): string => {
    const taken = operations.filter(
      (operation) =>
        'variable' in operation && operation.variable.replace(/(?<!\d)\d+$/, '') === wanted,
    );
    if (taken.length === 0) return wanted;
    return `${wanted}${taken.length + 1}`;
  };
  const set = (wanted: string, value: Expression): Expression => {
    if (value.is === 'variable') return value;
    const name = free(wanted);
    operations.push({ set: value.isBytes ? 'bytes' : 'text', variable: name, value });
    return variable(name, value);
  };
  /** A local function, defined once for the same value. */
  const define = (wanted: string, value: Expression): string => {
    const same = operations.find(
      (operation) =>
        operation.set === 'function' && JSON.stringify(operation.value) === JSON.stringify(value),
    );
    if (same?.set === 'function') return same.variable;
    const name = free(wanted);
    operations.push({ set: 'function', variable: name, value });
    return name;
  };
  const sortKey = (order: Exclude<Order, 'sent'>): string => {
    if (order === 'value') return define('sort_key', pairValue);
    return define('sort_key', pairName);
  };

  const sent = variable('params');
  const selected = once((): Expression => {
    const { from, nameCase, exclude, include, empty, order } = rule;
    let pairs: Expression = call('pairs_of', [sent]);
    const apply = (name: string, ...values: Expression[]) => {
      pairs = call(name, [pairs, ...values]);
    };
    // The contract says which parameters are fields of the form (§4.2).
    if (from === 'query') apply('without', textsOf([...formNames]));
    if (from === 'form') apply('only', textsOf([...formNames]));
    if (from === 'form-or-query') apply('form_or_query', textsOf([...formNames]));
    if (nameCase === 'upper') apply('upper_names');
    if (exclude.length > 0) apply('without', textsOf(exclude));
    if (include !== null) apply('only', textsOf(include));
    if (empty === 'drop') apply('drop_empty');
    for (const { name, value } of parts.params.added) {
      apply('with_pair', literalOf(name), argument('added', text(value)));
    }
    if (empty === 'drop' && parts.params.added.length > 0) apply('drop_empty');
    if (typeof order !== 'string') {
      // A name that is listed twice has its last place.
      apply('in_order', textsOf([...new Set(order.toReversed())].reverse()));
    } else if (order !== 'sent') apply('sort_by', variable(sortKey(order)));
    if (order === 'name-desc') apply('reversed_pairs');
    operations.push({ set: 'pairs', variable: 'pairs', value: pairs });
    return variable('pairs');
  });
  const block = once(() => {
    const pairs = selected();
    const encoded = (of: Expression) => changeOf(of, rule.encode);
    const value = encoded(pairValue);
    const pair = rule.names ? sumOf([encoded(pairName), literalOf(rule.kvSep), value]) : value;
    const separator = literalOf(rule.pairSep);
    const isAscii = pair.isAscii === true && separator.isAscii === true;
    const written = variable(define('pair', pair));
    return set('block', call('join_pairs', [pairs, separator, written], { isAscii }));
  });

  const query = once(() => set('query', call('query_of', [variable('url')])));
  const url = once(() => set('address', call('without_query', [variable('url')])));
  const read = ({ source, name }: Token): Expression => {
    switch (source) {
      case 'params':
        return block();
      case 'query':
        return query();
      case 'url':
        return url();
      case 'host':
        return call('host', [url()]);
      case 'path':
        return call('path', [url()]);
      case 'endpoint':
        return call('from_segment', [call('path', [url()]), literalOf(versionSegment)]);
      case 'param':
        return call('param', [sent, literalOf(name)]);
      case 'body':
        return call('text_of', [variable('body')]);
      case 'method':
      case 'secret':
        return variable(source);
    }
  };
  const text = (template: Template): Expression => textOf(template, read);
  /** A sum in a variable of its own. */
  function argument(wanted: string, value: Expression): Expression {
    if (value.is !== 'sum') return value;
    return set(wanted, value);
  }
  const keyBytes = once(() => {
    const decoded = { utf8: 'utf8', hex: 'from_hex', base64: 'from_base64' }[parts.decode];
    const written = argument('key_text', text(parts.key));
    return set('key', call(decoded, [written], { isBytes: true }));
  });
  const stepped = (before: Expression, step: Step): Expression => {
    switch (step.kind) {
      case 'digest':
        return digestOf(before, step.algorithm, step.format, step.hmac ? keyBytes() : null);
      case 'append':
        return sumOf([before, text(step.template)]);
      case 'prepend':
        return sumOf([text(step.template), before]);
      case 'slice':
        return cutOf(before, step.from, Math.max(step.from, step.to));
    }
  };

  const message = set('message', text(parts.message));
  const signature = parts.steps.reduce((before, step, index) => {
    const value = stepped(before, step);
    const isLast = index === parts.steps.length - 1;
    if (isLast) return value;
    return set('result', value);
  }, message);
  operations.push({ set: 'signature', value: signature });
  return operations;
}

const pairName = variable('name');
const pairValue = variable('value');

function textOf(template: Template, read: (token: Token) => Expression): Expression {
  const texts = template.parts.map((part) => {
    if (typeof part === 'string') return literalOf(part);
    return part.changes.reduce(modified, read(part));
  });
  return sumOf(texts);
}

function modified(of: Expression, { does }: Modifier): Expression {
  if (typeof does === 'string') return changeOf(of, does);
  return digestOf(of, does.algorithm, does.format, null);
}
