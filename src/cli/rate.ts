import { InvalidInputError } from '../protocol/errors.js';

/** Reads a rate such as `100/s`, in times a second. Throws an InvalidInputError. */
export function parseRate(text: string): number {
  const found = /^([1-9]\d{0,6})\/s$/.exec(text);
  if (found !== null) return Number(found[1]);
  throw new InvalidInputError(`${JSON.stringify(text)} is not a rate`, { hint: 'Write it as 100/s.' });
}
