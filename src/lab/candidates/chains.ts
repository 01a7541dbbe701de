import type { Algorithm } from '../../core/signing/digest-algorithms.js';
import { parseDigest } from '../../core/signing/digest-steps.js';
import type { SignatureName } from '../contract.js';
import { byBits, type Choice, choices, type Weighted } from './weighted.js';

/** The way from the text to the last digest. */
export interface Chain extends Weighted {
  readonly steps: readonly string[];
  /** The tokens of the key, where a step takes one. */
  readonly key: readonly string[] | null;
  readonly decode: 'utf8' | 'hex' | 'base64';
  /** The digest of the text. */
  readonly first: Algorithm;
  readonly last: Algorithm;
  readonly hasSecret: boolean;
}

interface Key extends Weighted {
  readonly tokens: readonly string[];
  readonly decode?: 'hex' | 'base64';
}

const keys: readonly Key[] = [
  { tokens: ['$secret'], bits: 0.2 },
  { tokens: ['$secret', '&'], bits: 7 },
  { tokens: ['$secret.md5'], bits: 7 },
  { tokens: ['$secret.MD5'], bits: 8.5 },
  { tokens: ['$secret.sha256'], bits: 8.5 },
  { tokens: ['$secret'], decode: 'base64', bits: 8 },
  { tokens: ['$secret'], decode: 'hex', bits: 8 },
  { tokens: ['$param:app_key', '$secret'], bits: 9 },
  { tokens: ['$secret', '$param:timestamp'], bits: 9 },
  { tokens: ['$param:timestamp', '$secret'], bits: 10 },
  { tokens: ['$secret', '$param:random'], bits: 10 },
];

/** `sign` may take the other signature for its key. */
const signKeys: readonly Key[] = [
  { tokens: ['$param:app_sign'], bits: 7 },
  { tokens: ['$secret', '$param:app_sign'], bits: 10 },
  { tokens: ['$param:app_sign', '$secret'], bits: 10 },
];

/** The keys of HMAC. */
export function keysFor(signature: SignatureName): readonly Key[] {
  return signature === 'sign' ? [...keys, ...signKeys] : keys;
}

/** How rare an algorithm is, in bits. */
interface Rarity {
  readonly plain: number;
  readonly hmac: number;
}

const rarities: Readonly<Record<Algorithm, Rarity>> = {
  md5: { plain: 0.6, hmac: 2.8 },
  sha1: { plain: 3, hmac: 3.2 },
  sha256: { plain: 2.6, hmac: 2.6 },
  sha384: { plain: 8, hmac: 8.5 },
  sha512: { plain: 5, hmac: 5 },
};

/** The algorithms, the most usual first. */
function algorithmsBy(use: keyof Rarity): Choice<Algorithm>[] {
  const algorithms = Object.keys(rarities) as Algorithm[];
  return byBits(algorithms.map((value) => ({ value, bits: rarities[value][use] })));
}

const plainDigests = algorithmsBy('plain');
const hmacs = algorithmsBy('hmac');

const innerFormats = choices<string>([0, ''], [1.6, ':HEX'], [6, ':base64'], [6, ':raw']);

function chain(steps: readonly string[], bits: number, more: Partial<Chain> = {}): Chain {
  const digests = steps.flatMap((step) => parseDigest(step)?.algorithm ?? []);
  return {
    steps,
    bits,
    key: null,
    decode: 'utf8',
    first: digests[0] ?? 'md5',
    last: digests.at(-1) ?? 'md5',
    hasSecret: false,
    ...more,
  };
}

/** Bits beyond which a chain is not tried. */
const maxBits = 13;

/** The digests of a text, the most usual first. */
export function chainsFor(signature: SignatureName): Chain[] {
  const chains: Chain[] = [];
  const add = (one: Chain) => {
    if (one.bits <= maxBits) chains.push(one);
  };
  for (const { value: last, bits } of plainDigests) add(chain([last], bits));
  for (const { tokens, decode = 'utf8' as const, bits: keyBits } of keysFor(signature)) {
    const hasSecret = tokens.some((token) => token.includes('$secret'));
    const keyed = { key: tokens, decode, hasSecret };
    for (const { value: last, bits } of hmacs) {
      add(chain([`hmac-${last}`], bits + keyBits, keyed));
      for (const { value: other, bits: otherBits } of plainDigests) {
        for (const { value: format, bits: formatBits } of innerFormats) {
          add(
            chain(
              [`hmac-${last}${format}`, other],
              bits + keyBits + otherBits + 3 + formatBits,
              keyed,
            ),
          );
          add(
            chain(
              [`${other}${format}`, `hmac-${last}`],
              bits + keyBits + otherBits + 3.5 + formatBits,
              keyed,
            ),
          );
        }
      }
    }
  }
  for (const { value: inner, bits: innerBits } of plainDigests) {
    for (const { value: last, bits } of plainDigests) {
      for (const { value: format, bits: formatBits } of innerFormats) {
        const base = bits + innerBits + formatBits;
        const first = `${inner}${format}`;
        add(chain([first, last], base + 2));
        add(chain([first, 'append:$secret', last], base + 4, { hasSecret: true }));
        add(chain([first, 'prepend:$secret', last], base + 5.5, { hasSecret: true }));
        add(chain([first, 'append:&key=$secret', last], base + 6.5, { hasSecret: true }));
        add(chain([first, 'append:$secret.md5', last], base + 7, { hasSecret: true }));
        add(chain([first, 'append:$param:timestamp', last], base + 7));
      }
    }
  }
  return byBits(chains);
}
