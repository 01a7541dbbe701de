import {
  type BlockEncoding,
  encoders,
  type TextEncoding,
} from '../../../core/signing/encodings.js';
import type { EncodeRule } from '../../../core/signing/recipe.js';
import { compileMessageEncoding } from '../../../core/signing/recipe-signer.js';
import { choices, combined, sortByBits, type Weighted } from './cost.js';
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

/** A transformation of the whole message. */
export interface MessageChange extends Change {
  readonly rule: Pick<EncodeRule, 'message' | 'lower'>;
}

export const wholeBlockEncodings = choices<BlockEncoding>(
  [0.1, 'none'],
  [4, 'rfc3986'],
  [5, 'form', 'base64'],
  [7.5, 'form-dotnet'],
);
const blockDigests = choices<string>([4, 'md5'], [5.5, 'MD5'], [6, 'sha256'], [7, 'sha1']);

export const blockChanges: readonly BlockChange[] = sortByBits([
  ...wholeBlockEncodings.map(({ value: encode, bits }) => {
    const changes = encode !== 'none';
    return { token: '$params', encode, apply: encoders[encode], changes, digests: false, bits };
  }),
  ...blockDigests.map(({ value: name, bits }): BlockChange => {
    const apply = modifierNamed(name);
    return { token: `$params.${name}`, encode: 'none', apply, changes: true, digests: true, bits };
  }),
]);

export const messageEncodings = choices<TextEncoding>(
  [0.1, 'none'],
  [5, 'form'],
  [6, 'rfc3986', 'form-dotnet'],
);
export const lowerings = choices([0.05, false], [5, true]);
const maxMessageBits = 11.2;

export const messageChanges: readonly MessageChange[] = sortByBits(
  combined(messageEncodings, lowerings, (message, lower) => ({ message, lower })),
)
  .filter(({ bits }) => bits <= maxMessageBits)
  .map(({ value: rule, bits }) => ({
    rule,
    apply: compileMessageEncoding(rule).apply,
    changes: rule.lower || rule.message !== 'none',
    bits,
  }));
