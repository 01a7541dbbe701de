import { formNames } from '../../core/contract/endpoints.js';
import type { Step } from '../../core/signing/digest-steps.js';
import type { ParamsRule, ParamsSource } from '../../core/signing/recipe.js';
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
export type Statements = readonly Statement[];

/** A statement: what it sets, and the value. */
export type Statement =
  | {
      readonly set: 'text' | 'bytes' | 'pairs';
      readonly variable: string;
      readonly value: Expression;
    }
  /** A local function of a name and a value. */
  | { readonly set: 'function of pair'; readonly variable: string; readonly value: Expression }
  | { readonly set: 'signature'; readonly value: Expression };

/** The statements of a recipe. Its URL may come with the query. */
export function statementsOf(parts: RecipeParts): Statements {
  return new RecipeStatements(parts).all();
}

/**
 * Turns a recipe into statements. What several tokens use, such as the query, becomes one variable,
 * which is set where it is used first.
 */
class RecipeStatements {
  readonly #parts: RecipeParts;
  readonly #statements = new StatementList();
  readonly #joinedPairs = memoize<void, Expression>(() => this.#joinPairs());
  readonly #query = memoize<void, Expression>(() =>
    this.#statements.set('query', call('query_of', [variable('url')])),
  );
  readonly #address = memoize<void, Expression>(() =>
    this.#statements.set('address', call('without_query', [variable('url')])),
  );
  readonly #key = memoize<void, Expression>(() => this.#decodeKey());

  constructor(parts: RecipeParts) {
    this.#parts = parts;
  }

  all(): Statements {
    const { message, steps } = this.#parts;
    let result = this.#statements.set('message', this.#textOf(message));
    for (const [index, step] of steps.entries()) {
      // The last result is the signature, not a variable.
      if (index > 0) result = this.#statements.set('result', result);
      result = this.#afterStep(result, step);
    }
    return this.#statements.endWith(result);
  }

  /** A text of literals and tokens. */
  #textOf(template: Template): Expression {
    const texts = template.parts.map((part) => {
      if (typeof part === 'string') return literalOf(part);
      return part.changes.reduce(modified, this.#valueOf(part));
    });
    return sumOf(texts);
  }

  /** The value of a token, before its modifiers. */
  #valueOf({ source, name }: Token): Expression {
    switch (source) {
      case 'params':
        return this.#joinedPairs();
      case 'query':
        return this.#query();
      case 'url':
        return this.#address();
      case 'host':
        return call('host', [this.#address()]);
      case 'path':
        return call('path', [this.#address()]);
      case 'endpoint':
        return call('from_segment', [call('path', [this.#address()]), literalOf(versionSegment)]);
      case 'param':
        return call('param', [sentParams, literalOf(name)]);
      case 'body':
        return call('text_of', [variable('body')]);
      case 'method':
      case 'secret':
        return variable(source);
    }
  }

  /** The value of `$params`: the chosen pairs in their order, each written, with separators. */
  #joinPairs(): Expression {
    const { order, pairSep } = this.#parts.recipe.params;
    const chosen = this.#withAddedPairs(chosenPairs(this.#parts.recipe.params));
    const pairs = this.#statements.setPairs(this.#inOrder(chosen, order));
    const pair = writtenPair(this.#parts.recipe.params);
    const separator = literalOf(pairSep);
    const isAscii = pair.isAscii === true && separator.isAscii === true;
    const writePair = variable(this.#statements.define('pair', pair));
    const joined = call('join_pairs', [pairs, separator, writePair], { isAscii });
    return this.#statements.set('block', joined);
  }

  /** Adds the pairs that are signed but not sent. Their values, too, may turn out empty. */
  #withAddedPairs(chosen: Expression): Expression {
    const { added } = this.#parts.params;
    if (added.length === 0) return chosen;
    let pairs = chosen;
    for (const { name, value } of added) {
      const text = this.#asArgument('added', this.#textOf(value));
      pairs = call('with_pair', [pairs, literalOf(name), text]);
    }
    return withoutEmpty(pairs, this.#parts.recipe.params);
  }

  #inOrder(pairs: Expression, order: ParamsRule['order']): Expression {
    switch (order) {
      case 'sent':
        return pairs;
      case 'name':
        return this.#sortedBy(pairs, pairName);
      case 'name-desc':
        return call('reversed_pairs', [this.#sortedBy(pairs, pairName)]);
      case 'value':
        return this.#sortedBy(pairs, pairValue);
      default: {
        // A name that is listed twice has its last place.
        const names = [...new Set(order.toReversed())].reverse();
        return call('in_order', [pairs, textsOf(names)]);
      }
    }
  }

  #sortedBy(pairs: Expression, part: Expression): Expression {
    return call('sort_by', [pairs, variable(this.#statements.define('sort_key', part))]);
  }

  #afterStep(before: Expression, step: Step): Expression {
    switch (step.kind) {
      case 'digest': {
        const key = step.hmac ? this.#key() : null;
        return digestOf(before, step.algorithm, step.format, key);
      }
      case 'append':
        return sumOf([before, this.#textOf(step.template)]);
      case 'prepend':
        return sumOf([this.#textOf(step.template), before]);
      case 'slice':
        return cutOf(before, step.from, Math.max(step.from, step.to));
    }
  }

  /** The bytes of the key of HMAC steps. */
  #decodeKey(): Expression {
    const { key, decode } = this.#parts;
    const text = this.#asArgument('key_text', this.#textOf(key));
    return this.#statements.set('key', call(keyDecoders[decode], [text], { isBytes: true }));
  }

  /** A value that may stand inside a call: a sum gets a variable of its own. */
  #asArgument(name: string, value: Expression): Expression {
    if (value.is !== 'sum') return value;
    return this.#statements.set(name, value);
  }
}

/** Statements as they are added. A name that is taken gets a number: `added`, `added2`. */
class StatementList {
  readonly #statements: Statement[] = [];
  /** How many variables have been named after a word. */
  readonly #counts = new Map<string, number>();
  readonly #functionsByValue = new Map<string, string>();

  /** Sets a variable, unless the value is one already, and returns it. */
  set(word: string, value: Expression): Expression {
    if (value.is === 'variable') return value;
    const name = this.#newName(word);
    this.#statements.push({ set: value.isBytes ? 'bytes' : 'text', variable: name, value });
    return variable(name, value);
  }

  setPairs(value: Expression): Expression {
    this.#statements.push({ set: 'pairs', variable: 'pairs', value });
    return variable('pairs');
  }

  /** Defines a local function, once for the same value, and returns its name. */
  define(word: string, value: Expression): string {
    const valueKey = JSON.stringify(value);
    const defined = this.#functionsByValue.get(valueKey);
    if (defined !== undefined) return defined;
    const name = this.#newName(word);
    this.#functionsByValue.set(valueKey, name);
    this.#statements.push({ set: 'function of pair', variable: name, value });
    return name;
  }

  /** Returns the signature, and with it the list. */
  endWith(signature: Expression): Statements {
    return [...this.#statements, { set: 'signature', value: signature }];
  }

  #newName(word: string): string {
    const count = (this.#counts.get(word) ?? 0) + 1;
    this.#counts.set(word, count);
    if (count === 1) return word;
    return `${word}${count}`;
  }
}

/** The parameters of the request. */
const sentParams = variable('params');

/** The parameters of the local functions. */
const pairName = variable('name');
const pairValue = variable('value');

const keyDecoders = { utf8: 'utf8', hex: 'from_hex', base64: 'from_base64' } as const;

/** The parameters that a rule signs, as pairs in the order in which they are sent. */
function chosenPairs(rule: ParamsRule): Expression {
  let pairs = pairsFrom(rule.from);
  if (rule.nameCase === 'upper') pairs = call('upper_names', [pairs]);
  if (rule.exclude.length > 0) pairs = call('without', [pairs, textsOf(rule.exclude)]);
  if (rule.include !== null) pairs = call('only', [pairs, textsOf(rule.include)]);
  return withoutEmpty(pairs, rule);
}

/** The contract says which parameters are fields of the form (§4.2). */
function pairsFrom(source: ParamsSource): Expression {
  const pairs = call('pairs_of', [sentParams]);
  const fields = textsOf([...formNames]);
  switch (source) {
    case 'both':
      return pairs;
    case 'query':
      return call('without', [pairs, fields]);
    case 'form':
      return call('only', [pairs, fields]);
    case 'form-or-query':
      return call('form_or_query', [pairs, fields]);
  }
}

function withoutEmpty(pairs: Expression, { empty }: ParamsRule): Expression {
  if (empty === 'keep') return pairs;
  return call('drop_empty', [pairs]);
}

/** A pair as it stands in `$params`. */
function writtenPair({ names, kvSep, encode }: ParamsRule): Expression {
  const value = changeOf(pairValue, encode);
  if (!names) return value;
  return sumOf([changeOf(pairName, encode), literalOf(kvSep), value]);
}

function modified(value: Expression, { does }: Modifier): Expression {
  if (typeof does === 'string') return changeOf(value, does);
  return digestOf(value, does.algorithm, does.format, null);
}
