import { compileMessageEncoding } from '../../signing/compile-recipe.js';
import { type BlockEncoding, decodePercent, encoders, type TextEncoding } from '../../signing/encodings.js';
import type { EncodeRule } from '../../signing/recipe.js';
import type { Weighted } from './cost.js';
import { modifierNamed } from './pieces.js';

/** A transformation of a text before it is signed. */
interface Change extends Weighted {
  readonly apply: (text: string) => string;
  /** Whether it changes anything: false for the identity. */
  readonly changes: boolean;
  /** Whether a text can be a result of this change. */
  readonly canYield: (text: string) => boolean;
  /** The only text of which this is the result; absent where there may be several. */
  readonly undo?: (text: string) => string;
}

/** A transformation of the parameter block, before it is put into the message. */
export interface BlockChange extends Change {
  /** The token for the block in `message`. */
  readonly token: string;
  readonly encode: BlockEncoding;
  /** Whether it is a digest. A digest that is the whole message is a step of the chain instead. */
  readonly digests: boolean;
}

/** A transformation of the whole message. It works character by character, so it can be applied part by part. */
export interface MessageChange extends Change {
  readonly rule: Pick<EncodeRule, 'message' | 'lower'>;
}

const shapes: Readonly<Record<BlockEncoding, RegExp>> = {
  none: /^/,
  rfc3986: /^[\w.~%-]*$/,
  form: /^[\w.*+%-]*$/,
  'form-dotnet': /^[\w.!*()+%-]*$/,
  base64: /^[\w+/%]*(?:=|%3d){0,2}$/i,
};

const decoders: Readonly<Record<BlockEncoding, (text: string) => string>> = {
  none: (text) => text,
  rfc3986: decodePercent,
  form: decodeForm,
  'form-dotnet': decodeForm,
  base64: (text) => Buffer.from(text, 'base64').toString(),
};

const blockChanges: readonly BlockChange[] = [
  encodedBlock('none', 0.1),
  encodedBlock('rfc3986', 4),
  digestedBlock('md5', 4),
  encodedBlock('form', 5),
  encodedBlock('base64', 5),
  digestedBlock('MD5', 5.5),
  digestedBlock('sha256', 6),
  digestedBlock('sha1', 7),
  encodedBlock('form-dotnet', 7.5),
];

export function changesOf(changeable: boolean): readonly BlockChange[] {
  return changeable ? blockChanges : blockChanges.slice(0, 1);
}

export const messageChanges: readonly MessageChange[] = [
  changedMessage('none', false, 0.15),
  changedMessage('none', true, 5),
  changedMessage('form', false, 5),
  changedMessage('form-dotnet', false, 6),
  changedMessage('rfc3986', false, 6),
  changedMessage('form', true, 6.5),
  changedMessage('rfc3986', true, 7),
];

function encodedBlock(encode: BlockEncoding, bits: number): BlockChange {
  const shape = shapes[encode];
  return {
    token: '$params',
    encode,
    apply: encoders[encode],
    changes: encode !== 'none',
    canYield: (text) => shape.test(text),
    undo: decoders[encode],
    digests: false,
    bits,
  };
}

function digestedBlock(name: string, bits: number): BlockChange {
  const apply = modifierNamed(name);
  const { length } = apply('');
  return {
    token: `$params.${name}`,
    encode: 'none',
    apply,
    changes: true,
    canYield: (text) => text.length === length && /^[\da-f]+$/i.test(text),
    digests: true,
    bits,
  };
}

function changedMessage(message: TextEncoding, lower: boolean, bits: number): MessageChange {
  const rule = { message, lower };
  const shape = shapes[message];
  return {
    rule,
    apply: compileMessageEncoding(rule).apply,
    changes: lower || message !== 'none',
    canYield: (text) => shape.test(text) && !(lower && text !== text.toLowerCase()),
    ...(lower ? {} : { undo: decoders[message] }),
    bits,
  };
}

function decodeForm(text: string): string {
  return decodePercent(text.replaceAll('+', ' '));
}
