import type { Mistake } from './suspect.js';

/** `same`, or how a received signature writes the same digest differently; null for another digest. */
export function compareDigest(expected: string, received: string): Mistake | 'same' | null {
  if (received === expected) return 'same';
  return written.find(({ fits }) => fits(expected, received)) ?? null;
}

interface WrittenMistake extends Mistake {
  readonly fits: (expected: string, received: string) => boolean;
}

const shortest = 8;

const written: readonly WrittenMistake[] = [
  {
    id: 'signature-case',
    says: 'It is the right digest in the wrong letter case.',
    advice: 'Send the digest in the letter case that the recipe says.',
    fits: (expected, received) => isHex(expected) && received.toLowerCase() === expected.toLowerCase(),
  },
  {
    id: 'signature-encoding',
    says: 'It is the right digest, its + sent as it is: on the way it became a space.',
    advice: 'Percent-encode the signature as any other value: + is %2B.',
    fits: (expected, received) => received.replaceAll(' ', '+') === expected,
  },
  {
    id: 'signature-encoding',
    says: 'It is the right digest, encoded once too often.',
    advice: 'Encode the signature once.',
    fits: (expected, received) => received.includes('%') && decode(received) === expected,
  },
  {
    id: 'signature-space',
    says: 'It is the right digest with white space around it.',
    advice: 'Trim the digest: a command that prints it adds a line break.',
    fits: (expected, received) => received.trim() === expected,
  },
  {
    id: 'signature-length',
    says: 'It is a part of the right digest.',
    advice: 'Send all of it; where the operator wants a part, the recipe has the step slice:FROM:TO.',
    fits: (expected, received) => received.length >= shortest && expected.includes(received),
  },
];

function isHex(text: string): boolean {
  return /^[\da-f]+$/i.test(text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
