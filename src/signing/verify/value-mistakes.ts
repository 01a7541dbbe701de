import { jsonLayouts } from './json-layouts.js';
import type { Mistake } from './suspect.js';

/** A mistake that changes the text of single values. */
export interface ValueMistake {
  readonly change: (value: string) => string;
  readonly mistake: (name: string) => Mistake;
}

const plainMistakes: readonly ValueMistake[] = [
  {
    change: (value) => (/^1\d{9}$/.test(value) ? `${value}000` : value),
    mistake: (name) => ({
      id: 'time-unit',
      says: `It was signed with ${name} in milliseconds, and sent in seconds.`,
      advice: `Sign ${name} exactly as it is sent: Unix time in seconds, 10 digits.`,
    }),
  },
  {
    change: (value) => (/^1\d{12}$/.test(value) ? value.slice(0, 10) : value),
    mistake: (name) => ({
      id: 'time-unit',
      says: `It was signed with ${name} in seconds, and sent in milliseconds.`,
      advice: `Send ${name} exactly as it is signed: Unix time in seconds, 10 digits.`,
    }),
  },
  {
    change: (value) => value.replaceAll(' ', '+'),
    mistake: (name) => ({
      id: 'plus',
      says: `It was signed with + in ${name} where the request, once decoded, has a space.`,
      advice: 'Sign the text before it is encoded; and send a + as %2B, a space as %20.',
    }),
  },
  {
    change: (value) => value.replaceAll('+', ' '),
    mistake: (name) => ({
      id: 'plus',
      says: `It was signed with a space in ${name} where the request has +.`,
      advice: 'Send a space as %20: the + that stands for one was encoded once more.',
    }),
  },
  {
    change: decodeOnce,
    mistake: (name) => ({
      id: 'encoded-twice',
      says: `It was signed before ${name} was encoded a first time, and sent encoded twice.`,
      advice: `Encode ${name} once: a library that builds the query does it already.`,
    }),
  },
  {
    change: (value) => value.trim(),
    mistake: (name) => ({
      id: 'value-space',
      says: `It was signed without the white space around the value of ${name}.`,
      advice: 'Trim the value before it is signed and sent, or not at all.',
    }),
  },
  {
    change: (value) => value.normalize('NFD'),
    mistake: normalMistake,
  },
  { change: (value) => value.normalize('NFC'), mistake: normalMistake },
];

function normalMistake(name: string): Mistake {
  return {
    id: 'unicode-form',
    says: `It was signed with ${name} in another Unicode normal form.`,
    advice: 'Sign the bytes that are sent: normalize before, or not at all.',
  };
}

function decodeOnce(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Mistakes in the layout of JSON, in a parameter or in the body. */
export const jsonMistakes: readonly ValueMistake[] = jsonLayouts.map(({ words, change }) => ({
  change,
  mistake: (name) => ({
    id: 'json-text',
    says: `It was signed with ${name} ${words}.`,
    advice: 'Make the JSON text once, then sign and send that same text.',
  }),
}));

export const valueMistakes: readonly ValueMistake[] = [...plainMistakes, ...jsonMistakes];
