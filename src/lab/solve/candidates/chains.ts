import { isDeepStrictEqual } from 'node:util';
import {
  type Algorithm,
  algorithmFacts,
  algorithms,
} from '../../../core/signing/digest-algorithms.js';
import { type DigestStep, digestName } from '../../../core/signing/digest-steps.js';
import type { Recipe } from '../../../core/signing/recipe.js';
import {
  type Choice,
  choice,
  choices,
  firstFrom,
  oneIn,
  sortByBits,
  type Weighted,
} from './cost.js';
import { glue, literal, type Piece, separators } from './pieces.js';
import type { RequestPieces } from './request-pieces.js';
import { type KeyForm, keyForms } from './secrets.js';
import type { SignatureReading } from './signature-reading.js';

/** The way from a message to its digest. */
export interface Chain extends Weighted {
  readonly links: readonly Link[];
  /** The key of its HMAC links; null where there are none. */
  readonly key: KeyForm | null;
  /** Whether the secret is part of the chain, so that the message need not contain it. */
  readonly keyed: boolean;
  readonly reading: SignatureReading;
}

/** One step of a chain; the format of a digest is that of the input of the next link. */
type Link = DigestStep | AffixLink;

/** The steps that put the secret between two digests. */
type Affix = Choice<readonly AffixLink[]>;

interface AffixLink {
  readonly kind: 'append' | 'prepend';
  readonly piece: Piece;
}

export function stepsOf({ links, reading }: Chain): string[] {
  const steps = links.flatMap((link) => {
    if (link.kind !== 'digest') return stepsOfAffix(link);
    return link.format === 'hex' ? digestName(link) : `${digestName(link)}:${link.format}`;
  });
  return [...steps, ...reading.after];
}

/**
 * One step per stretch of text. A token ends at the first character outside its alphabet, so a text
 * that would extend it starts a new step.
 */
function stepsOfAffix({ kind, piece: { tokens } }: AffixLink): string[] {
  const stretches: string[] = [];
  tokens.forEach((token, index) => {
    const isTaken = /^\$[^$]/.test(tokens[index - 1] ?? '') && /^[\w.:-]/.test(token);
    if (index === 0 || isTaken) stretches.push(token);
    else stretches.push((stretches.pop() ?? '') + token);
  });
  const steps = stretches.map((stretch) => `${kind}:${stretch}`);
  return kind === 'append' ? steps : steps.reverse();
}

/** The sub that the key or an affix needs; undefined where none does. */
export function subOf({ links, key }: Chain): Recipe['sub'] | undefined {
  const subs = links.map((link) => (link.kind === 'digest' ? undefined : link.piece.sub));
  return key?.sub ?? subs.find((sub) => sub !== undefined);
}

/** The digests of a chain, such as `hmac-sha256`, in any format. */
function digestsOf({ links }: Chain): string[] {
  return links.flatMap((link) => (link.kind === 'digest' ? [digestName(link)] : []));
}

/** Equal for chains that give the same digest of every message. */
export function chainIdentity({ links, key, reading: { cut, digest } }: Chain): string {
  const steps = links.map((link) => (link.kind === 'digest' ? link : [link.kind, link.piece.text]));
  return JSON.stringify([steps, key?.bytes.toString('base64'), cut, digest]);
}

/** Maximum cost of a chain, and of one whose digests a document names. */
const maxChainBits = 15;
const maxHintedBits = 20;

/** Maximum cost of a text between two digests, in bits. */
const maxAffixBits = 10;

const innerAlgorithms = sortByBits(
  algorithms.map((value) => ({ value, bits: algorithmFacts[value].innerBits })),
);
const innerFormats = choices<DigestStep['format']>([0.5, 'hex'], [2, 'HEX'], [4, 'base64', 'raw']);

interface ChainParts {
  readonly readings: readonly SignatureReading[];
  readonly forms: readonly Piece[];
  readonly pieces: RequestPieces;
  readonly names: readonly Choice<string>[];
}

/**
 * The digest chains that can end in the signature, the likeliest first: those with these digests,
 * or with any.
 */
export function digestChains(parts: ChainParts, digests: readonly string[] | undefined): Chain[] {
  const keys = keyForms(parts.forms, parts.pieces);
  const affixes = secretAffixes(parts);
  const others = digests === undefined ? [] : requestAffixes(parts);
  const most = digests === undefined ? maxChainBits : maxHintedBits;
  const chains = parts.readings.flatMap((reading) =>
    chainsTo(reading, keys, affixes, others, most),
  );
  return sortByBits(chains).filter(
    (chain) => !digests || isDeepStrictEqual(digestsOf(chain), digests),
  );
}

/** A chain that takes twice as long is treated as half as likely. */
function digestCount(links: readonly Link[]): number {
  return links.reduce((count, link) => count + (link.kind !== 'digest' ? 0 : link.hmac ? 2 : 1), 0);
}

function chainsTo(
  reading: SignatureReading,
  keys: readonly KeyForm[],
  affixes: readonly Affix[],
  others: readonly Affix[],
  most: number,
): Chain[] {
  const chains: Chain[] = [];
  const { algorithm } = reading;
  const last = digest(algorithm);
  const keyedLast = digest(algorithm, 'hex', true);
  const add = (
    bits: number,
    links: readonly Link[],
    key: KeyForm | null = null,
    keyed = key !== null,
  ) => {
    const total = bits + reading.bits + (key?.bits ?? 0) + oneIn(digestCount(links));
    if (total <= most) chains.push({ links, key, keyed, reading, bits: total });
  };
  /** The cheapest of these for which there is room. */
  const within = <T extends Weighted>(things: readonly T[], bits: number) =>
    things.slice(0, firstFrom(things, most - reading.bits - bits));
  add(0.35, [last]);
  for (const key of within(keys, 2.2)) add(2.2, [keyedLast], key);
  for (const { value: inner, bits: innerBits } of innerAlgorithms) {
    for (const { value: format, bits: formatBits } of innerFormats) {
      const bits = (inner === algorithm ? 0.3 : innerBits) + formatBits;
      const first = digest(inner, format);
      const keyedFirst = digest(inner, format, true);
      add(bits + 5, [first, last]);
      for (const affix of within(affixes, bits + 4))
        add(bits + 4 + affix.bits, [first, ...affix.value, last], null, true);
      for (const affix of others)
        for (const key of within(keys, bits + affix.bits + 2))
          add(bits + affix.bits + 2, [first, ...affix.value, keyedLast], key);
      for (const key of within(keys, bits + 4.5)) {
        add(bits + 6.5 - (format === 'raw' ? 2 : 0), [keyedFirst, last], key);
        add(bits + 6.5, [first, keyedLast], key);
      }
      for (const { value: second, bits: secondBits } of innerAlgorithms)
        add(bits + secondBits + 7, [first, digest(second, format), last]);
    }
  }
  return chains;
}

function digest(
  algorithm: Algorithm,
  format: DigestStep['format'] = 'hex',
  hmac = false,
): DigestStep {
  return { kind: 'digest', algorithm, hmac, format };
}

/** A part of the request in front of or behind the digest of others, of which an HMAC is made. */
function requestAffixes({ pieces: { path, method, url, values, extras } }: ChainParts): Affix[] {
  return [path, method, url, ...values, ...extras].flatMap((piece) => [
    choice([{ kind: 'prepend', piece }], piece.bits + 1),
    choice([{ kind: 'append', piece }], piece.bits + 2),
  ]);
}

/** The ways to put the secret between two digests. */
function secretAffixes({ forms, pieces, names }: ChainParts): Affix[] {
  const plain = [
    ...separators.map(({ value, bits }) => literal(value, bits + 1.5)),
    ...[...pieces.values, ...pieces.extras].map((piece) => ({ ...piece, bits: piece.bits + 2.5 })),
  ];
  const named = names.map(({ value, bits }) => literal(`&${value}=`, bits + 3.5));
  const affix = (kind: AffixLink['kind'], own: number, ...parts: readonly Piece[]): Affix => {
    const piece = glue(...parts);
    return choice([{ kind, piece }], own + piece.bits);
  };
  const affixes = forms.flatMap((form): Affix[] => {
    const isLikely = ({ bits }: Weighted) => bits + form.bits <= maxAffixBits;
    const both = (['prepend', 'append'] as const).map((kind) => ({ kind, piece: form }));
    return [
      affix('append', 0.7, form),
      affix('prepend', 2, form),
      choice(both, form.bits + 4),
      ...[...plain, ...named].filter(isLikely).map((before) => affix('append', 1.2, before, form)),
      ...plain.filter(isLikely).map((after) => affix('prepend', 2.2, form, after)),
    ];
  });
  return sortByBits(affixes.filter(({ bits }) => bits <= maxAffixBits));
}
