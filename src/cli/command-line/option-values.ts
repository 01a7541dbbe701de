import { InvalidArgumentError } from 'commander';
import { InvalidInputError } from '../../protocol/errors.js';

// The parsers of option values throw an InvalidArgumentError, which commander reports with the name of the option.

const count = /^[1-9]\d{0,8}$/;

/** Parses a positive integer. */
export function parseCount(text: string): number {
  if (count.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1.');
}

/** Parses a positive integer, or `unlimited`. */
export function parseLimit(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (count.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1, or "unlimited".');
}

/**
 * Parses the text of an option that is not empty: with `"$ID"` of a variable that is not set, a request would mean
 * something else, such as another user.
 *
 * @throws InvalidInputError
 */
export function parseFilled(option: string): (text: string) => string {
  return (text) => {
    if (text !== '') return text;
    throw new InvalidInputError(`${option} is empty: is the variable set?`);
  };
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Adds the text of an option that may be given several times. */
export function addText(text: string, texts: readonly string[] = []): string[] {
  return [...texts, text];
}

/** Makes a parser of durations up to `max`, such as `500ms`, `5s` or `2m`, into milliseconds. */
export function durationUpTo(max: string): (text: string) => number {
  const msOf = (text: string) => {
    const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
    return unit === undefined ? 0 : Number(number) * unitMs[unit as keyof typeof unitMs];
  };
  return (text) => {
    const ms = msOf(text);
    if (ms >= 1 && ms <= msOf(max)) return Math.round(ms);
    throw new InvalidArgumentError(
      `Use a positive number and a unit: 500ms, 5s, 2m, 1h, 1d. The maximum is ${max}.`,
    );
  };
}

/** Parses a duration that a timer of Node.js can wait for. */
export const parseDuration = durationUpTo('596h');

/** Parses a rate such as `100/s` into requests per second. */
export function parseRate(text: string): number {
  const found = /^([1-9]\d{0,6})\/s$/.exec(text);
  if (found !== null) return Number(found[1]);
  throw new InvalidArgumentError('Write it as 100/s.');
}

/**
 * Parses the variable `name` of a flag without value.
 *
 * @throws InvalidInputError
 */
export function parseSwitch(text: string, name: string): boolean {
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  if (/^(?:0|false|no|off)?$/i.test(text)) return false;
  throw new InvalidInputError(`${name}: ${JSON.stringify(text)} is neither on nor off`, {
    hint: 'Write 1 or 0.',
  });
}
