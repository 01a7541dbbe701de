import type { Algorithm, Output } from '../digest-algorithms.js';
import type { TextEncoding } from '../encodings.js';
import type { KeyDecoding } from '../recipe.js';

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
      return isAscii(expression.each) && isAscii(literalOf(expression.separator));
    case 'change':
      return !/^(upper|lower|reverse|json)$/.test(expression.change) || isAscii(expression.of);
    case 'slice':
      return isAscii(expression.of);
    default:
      return expression.is === 'digest';
  }
}

export function literalOf(text: string): Expression {
  return { is: 'literal', text };
}

/** Parts one after the other; adjacent literals are one. */
export function joinOf(parts: readonly Expression[]): Expression {
  const joined: Expression[] = [];
  for (const part of parts.flatMap((one) => (one.is === 'join' ? one.parts : [one]))) {
    const last = joined.at(-1);
    if (part.is === 'literal' && last?.is === 'literal')
      joined[joined.length - 1] = literalOf(last.text + part.text);
    else if (part.is !== 'literal' || part.text !== '') joined.push(part);
  }
  const [first = literalOf('')] = joined;
  return joined.length < 2 ? first : { is: 'join', parts: joined };
}

export function changeOf(of: Expression, change: TextOperation | 'none'): Expression {
  return change === 'none' ? of : { is: 'change', of, change };
}
