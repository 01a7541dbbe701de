import type { Algorithm } from '../../digests.js';
import type { AffixLink, Chain, DigestLink, Link, LinkFormat } from './chain.js';
import { oneIn, sortByBits, type Weighed } from './choice.js';
import { type KeyForm, keyForms } from './keys.js';
import { glue, literal, type Piece } from './piece.js';
import type { RequestPieces } from './request-pieces.js';
import { separators } from './separators.js';
import type { SignatureReading } from './signature-reading.js';

/** No chain is dearer than this. */
const dearestChain = 15;

/** No text between two digests is dearer than this. */
const dearestAffix = 10;

const innerAlgorithms: readonly (readonly [Algorithm, number])[] = [
  ['md5', 0.8],
  ['sha1', 2],
  ['sha256', 2.5],
  ['sha512', 5],
];

const innerFormats: readonly (readonly [LinkFormat, number])[] = [
  ['hex', 0.5],
  ['HEX', 2],
  ['base64', 4],
  ['raw', 4],
];

/** What the search makes its chains of. */
export interface ChainParts {
  readonly readings: readonly SignatureReading[];
  readonly forms: readonly Piece[];
  readonly pieces: RequestPieces;
  readonly names: readonly { readonly value: string; readonly bits: number }[];
}

/** The digest chains that can end in the signature, the likeliest first. */
export function digestChains(parts: ChainParts): Chain[] {
  const keys = keyForms(parts.forms, parts.pieces);
  const affixes = secretAffixes(parts);
  const chains = parts.readings.flatMap((reading) => chainsTo(reading, keys, affixes));
  return sortByBits(chains);
}

/** What takes twice as long is tried as if it were half as likely. */
function digestCount(links: readonly Link[]): number {
  return links.reduce((count, link) => count + (link.kind !== 'digest' ? 0 : link.hmac ? 2 : 1), 0);
}

interface Affix {
  readonly links: readonly AffixLink[];
  readonly bits: number;
}

function chainsTo(reading: SignatureReading, keys: readonly KeyForm[], affixes: readonly Affix[]): Chain[] {
  const chains: Chain[] = [];
  const { algorithm } = reading;
  const last = digest(algorithm);
  const keyedLast = digest(algorithm, 'hex', true);
  const add = (bits: number, links: readonly Link[], key: KeyForm | null = null, keyed = key !== null) => {
    const total = bits + reading.bits + (key?.bits ?? 0) + oneIn(digestCount(links));
    if (total <= dearestChain) chains.push({ links, key, keyed, reading, bits: total });
  };
  /** What is too dear even between the two shortest links is not made. */
  const withEach = <T extends Weighed>(things: readonly T[], bits: number, take: (thing: T) => void) => {
    for (const thing of things) {
      if (bits + reading.bits + thing.bits + oneIn(2) > dearestChain) return;
      take(thing);
    }
  };

  add(0.35, [last]);
  for (const key of keys) add(2.2, [keyedLast], key);
  for (const [inner, innerBits] of innerAlgorithms) {
    for (const [format, formatBits] of innerFormats) {
      const bits = (inner === algorithm ? 0.3 : innerBits) + formatBits;
      const first = digest(inner, format);
      const keyedFirst = digest(inner, format, true);
      add(bits + 5, [first, last]);
      withEach(affixes, bits + 4, (affix) => {
        add(bits + 4 + affix.bits, [first, ...affix.links, last], null, true);
      });
      withEach(keys, bits + 4.5, (key) => {
        add(bits + 6.5 - (format === 'raw' ? 2 : 0), [keyedFirst, last], key);
        add(bits + 6.5, [first, keyedLast], key);
      });
      for (const [second, secondBits] of innerAlgorithms) {
        const middle = digest(second, format);
        const both = bits + secondBits;
        add(both + 7, [first, middle, last]);
        withEach(affixes, both + 8, (affix) => {
          add(both + 8 + affix.bits, [first, ...affix.links, middle, last], null, true);
          add(both + 8 + affix.bits, [first, middle, ...affix.links, last], null, true);
        });
      }
    }
  }
  return chains;
}

function digest(algorithm: Algorithm, format: LinkFormat = 'hex', hmac = false): DigestLink {
  return { kind: 'digest', algorithm, hmac, format };
}

/** The ways in which the secret comes in between two digests. */
function secretAffixes({ forms, pieces, names }: ChainParts): Affix[] {
  const glued = separators.map(({ value, bits }) => literal(value, bits + 1.5));
  const named = names.map(({ value, bits }) => literal(`&${value}=`, bits + 3.5));
  const values = [...pieces.values, ...pieces.extras].map((piece) => ({ ...piece, bits: piece.bits + 2.5 }));
  const affixes: Affix[] = [];
  const add = (kind: AffixLink['kind'], bits: number, ...parts: readonly Piece[]) => {
    const total = parts.reduce((sum, part) => sum + part.bits, bits);
    if (total <= dearestAffix) affixes.push({ links: [{ kind, piece: glue(...parts) }], bits: total });
  };
  for (const form of forms) {
    if (form.bits > dearestAffix) break;
    add('append', 0.7, form);
    add('prepend', 2, form);
    const both = form.bits + 4;
    if (both <= dearestAffix) {
      affixes.push({
        links: [
          { kind: 'prepend', piece: form },
          { kind: 'append', piece: form },
        ],
        bits: both,
      });
    }
    for (const before of [...glued, ...named]) add('append', 1, before, form);
    for (const after of glued) add('prepend', 2, form, after);
    for (const value of values) {
      add('append', 1.5, value, form);
      add('append', 2.5, form, value);
      add('prepend', 3, form, value);
      add('prepend', 3, value, form);
    }
  }
  return sortByBits(affixes);
}
