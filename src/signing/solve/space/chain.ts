import type { Algorithm } from '../../digests.js';
import type { SubRule } from '../../recipe.js';
import type { Weighed } from './choice.js';
import type { KeyForm } from './keys.js';
import type { Piece } from './piece.js';
import type { SignatureReading } from './signature-reading.js';

/** How a message becomes a digest. */
export interface Chain extends Weighed {
  readonly links: readonly Link[];
  /** The key of its hmac links; null where there are none. */
  readonly key: KeyForm | null;
  /** Whether the secret takes part in it, so that the message need not hold it. */
  readonly keyed: boolean;
  readonly reading: SignatureReading;
}

export type Link = DigestLink | AffixLink;

export interface DigestLink {
  readonly kind: 'digest';
  readonly algorithm: Algorithm;
  readonly hmac: boolean;
  /** What the next link takes. */
  readonly format: LinkFormat;
}

export type LinkFormat = 'hex' | 'HEX' | 'raw' | 'base64';

export interface AffixLink {
  readonly kind: 'append' | 'prepend';
  readonly piece: Piece;
}

/** The steps as a recipe says them. */
export function stepsOf({ links, reading }: Chain): string[] {
  const last = links.length - 1;
  return [...links.flatMap((link, index) => stepsOfLink(link, index === last)), ...reading.after];
}

function stepsOfLink(link: Link, isLast: boolean): string[] {
  if (link.kind !== 'digest') return stepsOfAffix(link);
  const name = link.hmac ? `hmac-${link.algorithm}` : link.algorithm;
  return [isLast || link.format === 'hex' ? name : `${name}:${link.format}`];
}

/** A step for each stretch of the text: a token would take in what its name could go on with, so that begins another. */
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

/** The `$sub` rule that its key or its affixes take; undefined where they take none. */
export function subOf({ links, key }: Chain): SubRule | undefined {
  if (key?.sub !== undefined) return key.sub;
  for (const link of links) if (link.kind !== 'digest' && link.piece.sub !== undefined) return link.piece.sub;
  return undefined;
}

/** What two chains have in common that no message can tell apart. */
export function chainIdentity({ links, key, reading }: Chain): string {
  const steps = links.map((link) =>
    link.kind === 'digest' ? [link.algorithm, link.hmac, link.format] : [link.kind, link.piece.text],
  );
  return JSON.stringify([
    steps,
    key?.bytes.toString('base64'),
    reading.cut,
    reading.digest,
    reading.algorithm,
  ]);
}
