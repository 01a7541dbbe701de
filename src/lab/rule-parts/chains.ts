import type { SignatureName } from '../../core/signing/app-signatures.js';
import type { Algorithm } from '../../core/signing/digest-algorithms.js';
import { byBits, type Choice, choices, type Rated } from './rarity.js';

/** The way from the text to the last digest. */
export interface Chain extends Rated {
  readonly steps: readonly string[];
  /** The tokens of the key, where a step takes one. */
  readonly key: readonly string[] | null;
  readonly decode: 'utf8' | 'hex' | 'base64';
  /** The last digest. */
  readonly last: Algorithm;
  readonly hasSecret: boolean;
}

interface Key extends Rated {
  readonly tokens: readonly string[];
  /** How its text becomes bytes. @default 'utf8' */
  readonly decode?: Chain['decode'];
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

/** How the first of two digests is written for the second one. */
const innerFormats = choices<string>([0, ''], [1.6, ':HEX'], [6, ':base64'], [6, ':raw']);

/** What comes in between two digests without a key, and how rare two of them are. */
const betweenDigests = choices<readonly string[]>(
  [2, []],
  [4, ['append:$secret']],
  [5.5, ['prepend:$secret']],
  [6.5, ['append:&key=$secret']],
  [7, ['append:$secret.md5'], ['append:$param:timestamp']],
);

/** How rare it is that a digest is digested again where one of the two has a key, in bits. */
const bitsOfDigestOfHmac = 3;
const bitsOfHmacOfDigest = 3.5;

const noKey = { key: null, decode: 'utf8' } as const;

function chain(
  steps: readonly string[],
  last: Algorithm,
  bits: number,
  { key, decode }: Pick<Chain, 'key' | 'decode'> = noKey,
): Chain {
  const hasSecret = [...steps, ...(key ?? [])].some((text) => text.includes('$secret'));
  return { steps, bits, key, decode, last, hasSecret };
}

/** Bits beyond which a chain is not tried. */
const maxBits = 13;

/** The digests of a text, the most usual first. */
export function chainsFor(signature: SignatureName): Chain[] {
  const chains = [
    ...plainDigests.map(({ value, bits }) => chain([value], value, bits)),
    ...keysFor(signature).flatMap((key) => [...keyedChains(key)]),
    ...doubleDigests(),
  ];
  return byBits(chains.filter(({ bits }) => bits <= maxBits));
}

/** An HMAC with this key, alone or with a digest before or after it. */
function* keyedChains({ tokens, decode = 'utf8', bits: keyBits }: Key): Generator<Chain> {
  const keyed = { key: tokens, decode };
  for (const { value: algorithm, bits } of hmacs) {
    const hmac = `hmac-${algorithm}`;
    yield chain([hmac], algorithm, bits + keyBits, keyed);
    for (const { value: plain, bits: plainBits } of plainDigests)
      for (const { value: format, bits: formatBits } of innerFormats) {
        const both = bits + keyBits + plainBits;
        const ofHmac = both + bitsOfDigestOfHmac + formatBits;
        yield chain([`${hmac}${format}`, plain], plain, ofHmac, keyed);
        const ofDigest = both + bitsOfHmacOfDigest + formatBits;
        yield chain([`${plain}${format}`, hmac], algorithm, ofDigest, keyed);
      }
  }
}

/** A digest of a digest, without a key. */
function* doubleDigests(): Generator<Chain> {
  for (const { value: inner, bits: innerBits } of plainDigests)
    for (const { value: last, bits } of plainDigests)
      for (const { value: format, bits: formatBits } of innerFormats)
        for (const between of betweenDigests)
          yield chain(
            [`${inner}${format}`, ...between.value, last],
            last,
            bits + innerBits + formatBits + between.bits,
          );
}
