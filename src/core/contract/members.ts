// Checks of what callers without TypeScript give.
import { InvalidInputError, quoteName } from './errors.js';
import { isObject, kindOf } from './fields.js';
import { maxTimerMs } from './limits.js';
import { textFault } from './unsafe-text.js';

/** Returns why a value is invalid, in words that follow its name, or `null`. */
export type MemberCheck = (value: unknown) => string | null;

/** The members that an object of a caller may have. */
export interface Shape<Given = Readonly<Record<string, unknown>>> {
  /** Name of the object in messages. */
  readonly what: string;
  readonly members: Readonly<Record<keyof Given, MemberCheck>>;
  readonly required?: readonly (keyof Given)[];
}

export function isA(wanted: string, isRight: (value: unknown) => boolean): MemberCheck {
  return (value) => (isRight(value) ? null : `is ${kindOf(value)}, not ${wanted}`);
}

export const isText = isA('text', (value) => typeof value === 'string');
export const isFilledText: MemberCheck = (value) => (value === '' ? 'is empty' : isText(value));
export const isParameter: MemberCheck = (value) => isFilledText(value) ?? textFault(String(value));
export const isFunction = isA('a function', (value) => typeof value === 'function');

export const areTexts = isA(
  'a list of texts',
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
);

export const isCount = isA(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
);

export function isWholeNumber(min: number, max: number): MemberCheck {
  const isInRange = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
  return isA(`a whole number from ${min} to ${max}`, isInRange);
}

/** Of an answer that has a body. */
export const isHttpStatus = isWholeNumber(200, 599);

export const isDuration = isA(
  `a number of milliseconds from 1 to ${maxTimerMs}`,
  (value) => typeof value === 'number' && value >= 1 && value <= maxTimerMs,
);

/** A number per second. */
export const isRate = isA(
  'a number above 0',
  (value) => Number.isFinite(value) && Number(value) > 0,
);

/** Accepts the signals of other realms and libraries. */
export const isSignal = isA('an AbortSignal', (value) =>
  hasMembers(value, {
    aborted: 'boolean',
    addEventListener: 'function',
    removeEventListener: 'function',
  }),
);

/**
 * Refuses instances of classes, and iterable objects such as `arguments`: content outside of their
 * named properties would be lost.
 */
export const isPlainObject = isA('a plain object of keys and values', (value) => {
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) return false;
  const prototype = Object.getPrototypeOf(value);
  // Works for any realm: the prototype of its plain objects has no prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
});

/**
 * Checks an object of a caller. A row of a bulk run may have further members (`isRow`).
 *
 * @throws InvalidInputError that names the invalid, missing or unknown member
 */
export function checkMembers<Given>(shape: Shape<Given>, given: unknown, isRow = false): void {
  const { what, members, required = [] } = shape;
  if (!isObject(given)) {
    throw new InvalidInputError(`${what}: ${kindOf(given)} was given, not an object`, {
      hint: `Pass an object with ${Object.keys(members).join(', ')}.`,
    });
  }
  for (const name in members) {
    const value = given[name];
    const isMissing = value === undefined && required.includes(name);
    const fault = isMissing ? 'is missing' : value === undefined ? null : members[name](value);
    if (fault !== null) throw new InvalidInputError(`${what}: ${name} ${fault}`);
  }
  const unknown = isRow
    ? undefined
    : Object.keys(given).find((name) => !Object.hasOwn(members, name));
  if (unknown === undefined) return;
  throw new InvalidInputError(`${what}: ${quoteName(unknown)} is unknown`, {
    hint: `Known: ${Object.keys(members).join(', ')}.`,
  });
}

export function hasMembers(value: unknown, types: Readonly<Record<string, string>>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(types).every(([name, type]) => {
    const member = (value as Record<string, unknown>)[name];
    return typeof member === type && member !== null;
  });
}
