import { InvalidArgumentError } from 'commander';
import { InvalidInputError } from '../../core/contract/errors.js';

// The parsers of option values throw an InvalidArgumentError, which commander reports with the name
// of the option.

const count = /^[1-9]\d{0,8}$/;

/**
 * Parses a positive integer.
 *
 * @throws InvalidArgumentError
 */
export function parseCount(text: string): number {
  if (count.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1.');
}

/**
 * Parses a positive integer, or `unlimited`.
 *
 * @throws InvalidArgumentError
 */
export function parseLimit(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (count.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1, or "unlimited".');
}

/**
 * Parses the text of an option that is not empty: with `"$ID"` of a variable that is not set, a
 * request would mean something else, such as another user.
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

/** The longest time that a timer of Node.js can wait, in whole hours. */
const maxHours = 596;

/**
 * Parses a duration such as `500ms`, `5s` or `2m` into milliseconds.
 *
 * @throws InvalidArgumentError
 */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(number) * unitMs[unit as keyof typeof unitMs];
  if (ms >= 1 && ms <= maxHours * unitMs.h) return Math.round(ms);
  throw new InvalidArgumentError(
    `Use a positive number and a unit: 500ms, 5s, 2m, 1h, 1d. The maximum is ${maxHours}h.`,
  );
}

/**
 * Parses a rate such as `100/s` into requests per second.
 *
 * @throws InvalidArgumentError
 */
export function parseRate(text: string): number {
  const [, rate] = /^([1-9]\d{0,6})\/s$/.exec(text) ?? [];
  if (rate !== undefined) return Number(rate);
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
