import type { Algorithm, Output } from '../../core/signing/digest-algorithms.js';
import type { TextEncoding } from '../../core/signing/encodings.js';
import type { Modifier } from '../../core/signing/template.js';

/**
 * A value: text, or bytes where `isBytes` says so. `isAscii`: a text that certainly has no other
 * characters. A sum is the whole of a statement, never a part of an expression.
 */
export type Expression = (
  | { readonly is: 'literal'; readonly text: string }
  | { readonly is: 'number'; readonly value: number }
  | { readonly is: 'texts'; readonly texts: readonly string[] }
  | { readonly is: 'algorithm'; readonly algorithm: Algorithm; readonly isKeyed: boolean }
  /** A parameter of the function, or what a statement before has set. */
  | { readonly is: 'variable'; readonly name: string }
  /** A call of a function that the template of each language has. */
  | { readonly is: 'call'; readonly name: string; readonly values: readonly Expression[] }
  | { readonly is: 'sum'; readonly parts: readonly Expression[] }
) &
  TypeOfValue;

interface TypeOfValue {
  readonly isBytes?: boolean | undefined;
  readonly isAscii?: boolean | undefined;
}

export function literalOf(text: string): Expression {
  return { is: 'literal', text, isAscii: /^[\0-\x7f]*$/.test(text) };
}

export function textsOf(texts: readonly string[]): Expression {
  return { is: 'texts', texts: [...new Set(texts)] };
}

export function variable(
  name: string,
  { isBytes = false, isAscii = false }: TypeOfValue = {},
): Expression {
  return { is: 'variable', name, isBytes, isAscii };
}

export function call(
  name: string,
  values: readonly Expression[],
  { isBytes = false, isAscii = false }: TypeOfValue = {},
): Expression {
  return { is: 'call', name, values, isBytes, isAscii };
}

/** Parts one after the other, in bytes if one of them is; adjacent literals are one. */
export function sumOf(parts: readonly Expression[]): Expression {
  const joined: Expression[] = [];
  for (const part of parts.flatMap(summands)) {
    const last = joined.at(-1);
    if (part.is === 'literal' && last?.is === 'literal')
      joined[joined.length - 1] = literalOf(last.text + part.text);
    else if (part.is !== 'literal' || part.text !== '') joined.push(part);
  }
  const [first = literalOf('')] = joined;
  if (joined.length < 2) return first;
  const isBytes = joined.some((part) => part.isBytes);
  const isAscii = joined.every((part) => part.isAscii);
  if (isBytes) return { is: 'sum', parts: joined.map(bytes), isBytes, isAscii };
  return { is: 'sum', parts: joined, isBytes, isAscii };
}

function summands(expression: Expression): readonly Expression[] {
  if (expression.is === 'sum') return expression.parts;
  return [expression];
}

function bytes(of: Expression): Expression {
  if (of.isBytes) return of;
  return call('utf8', [of], { isBytes: true });
}

/** A part of an ASCII text. */
export function cutOf(of: Expression, from: number, to: number): Expression {
  const ends = [from, to].map((value) => ({ is: 'number', value }) as const);
  return call('cut', [of, ...ends], { isAscii: true });
}

type Change = TextEncoding | Extract<Modifier['does'], string>;

export function changeOf(of: Expression, change: Change): Expression {
  switch (change) {
    case 'none':
      return of;
    case 'upper':
    case 'lower':
      return call(of.isAscii ? `${change}_ascii` : change, [of], of);
    case 'base64':
      return call('to_base64', [bytes(of)], { isAscii: true });
    default:
      return call(change.replace('-', '_'), [of], { isAscii: true });
  }
}

function rawDigest(message: Expression, algorithm: Algorithm, key: Expression | null): Expression {
  if (key === null) {
    return call('digest', [{ is: 'algorithm', algorithm, isKeyed: false }, message]);
  }
  return call('keyed_digest', [{ is: 'algorithm', algorithm, isKeyed: true }, key, message]);
}

/** The digest of a value: as bytes where the format is `raw`, else as a text in ASCII. */
export function digestOf(
  of: Expression,
  algorithm: Algorithm,
  format: Output | 'raw',
  key: Expression | null,
): Expression {
  const digest = rawDigest(bytes(of), algorithm, key);
  const written = (as: string) => call(as, [digest], { isAscii: true });
  switch (format) {
    case 'raw':
      return { ...digest, isBytes: true };
    case 'HEX':
      return changeOf(written('to_hex'), 'upper');
    default:
      return written(`to_${format}`);
  }
}
