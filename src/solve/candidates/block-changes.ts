import { compileMessageEncoding } from '../../signing/compile-recipe.js';
import { type BlockEncoding, encoders, type TextEncoding } from '../../signing/encodings.js';
import type { EncodeRule } from '../../signing/recipe.js';
import type { Weighted } from './cost.js';
import { modifierNamed } from './pieces.js';

/** A transformation of a text before it is signed. */
interface Change extends Weighted {
  readonly apply: (text: string) => string;
  /** Whether it changes anything: false for the identity. */
  readonly changes: boolean;
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

export const blockChanges: readonly BlockChange[] = [
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
  const apply = encoders[encode];
  return { token: '$params', encode, apply, changes: encode !== 'none', digests: false, bits };
}

function digestedBlock(name: string, bits: number): BlockChange {
  const apply = modifierNamed(name);
  return { token: `$params.${name}`, encode: 'none', apply, changes: true, digests: true, bits };
}

function changedMessage(message: TextEncoding, lower: boolean, bits: number): MessageChange {
  const rule = { message, lower };
  const { apply } = compileMessageEncoding(rule);
  return { rule, apply, changes: lower || message !== 'none', bits };
}
