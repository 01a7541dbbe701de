import { InvalidInputError } from '../protocol/errors.js';

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a duration such as `500ms`, `5s` or `2m`, in milliseconds. Throws an InvalidInputError. */
export function parseDuration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  const ms = found === null ? 0 : Number(found[1]) * unitMs[found[2] as keyof typeof unitMs];
  if (ms >= 1 && ms <= maxMs) return Math.round(ms);
  throw new InvalidInputError(`${JSON.stringify(text)} is not a duration`, {
    hint: 'Write a number above 0 and its unit: 500ms, 5s, 2m, 1h, 1d; 24 days at most.',
  });
}

/** The longest that a timer of Node can wait. */
const maxMs = 2 ** 31 - 1;
