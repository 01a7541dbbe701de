// Checks of objects from outside: JSON, and what callers without TypeScript pass.
import { isObject } from '../support/json.js';
import { InvalidInputError, quoteName } from './errors.js';
import { maxTimerMs } from './limits.js';
import { textFault } from './unsafe-text.js';

/**
 * Checks that a value from outside is an object with `known` fields only; without `known`, of any
 * name. `advice` replaces the list of the known fields.
 *
 * @throws InvalidInputError that begins with `label`
 */
export function checkFields(
  value: unknown,
  label: string,
  known?: readonly string[],
  advice?: string,
): Readonly<Record<string, unknown>> {
  const hint = advice ?? (known && `Known fields: ${known.join(', ')}.`);
  if (!isObject(value)) throw new InvalidInputError(`${label} is not an object`, { hint });
  const unknown = known && Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return value;
  throw new InvalidInputError(`${label} has the unknown field ${quoteName(unknown)}`, { hint });
}

/** The type of a value, for a message, or a number itself. */
export function typeOrNumber(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeName(value);
}

/** The type of a value, for a message; never the value. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'string') return 'text';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name } = value.constructor ?? {};
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object';
  return `an instance of ${quoteName(name).slice(1, -1)}`;
}

/** Returns why a value is invalid, in words that follow its name, or `null`. */
export type MemberCheck = (value: unknown) => string | null;

/** The members that an object of a caller may have. */
export interface Shape<Members = Readonly<Record<string, unknown>>> {
  /** Name of the object in messages. */
  readonly what: string;
  /** The check of each member; an absent or undefined member is not checked. */
  readonly members: Readonly<Record<keyof Members, MemberCheck>>;
  /** @default none */
  readonly required?: readonly (keyof Members)[];
}

/**
 * A check that accepts what is right, and says what any other value is. `wanted` names the right
 * one, with its article.
 */
export function mustBe(wanted: string, isRight: (value: unknown) => boolean): MemberCheck {
  return (value) => {
    if (isRight(value)) return null;
    return `is ${typeOrNumber(value)}, not ${wanted}`;
  };
}

/** Accepts any text, also an empty one. */
export const mustBeText = mustBe('text', (value) => typeof value === 'string');
/** Accepts text that is not empty. */
export function mustBeFilledText(value: unknown): string | null {
  if (value === '') return 'is empty';
  return mustBeText(value);
}

/** Accepts a text that can be sent as the value of a parameter. */
export function mustBeParameter(value: unknown): string | null {
  return mustBeFilledText(value) ?? textFault(String(value));
}

/** Accepts any function. */
export const mustBeFunction = mustBe('a function', (value) => typeof value === 'function');

/** Accepts a list of texts, also an empty one. */
export const mustBeTexts = mustBe(
  'a list of texts',
  (value) => Array.isArray(value) && value.every((text) => typeof text === 'string'),
);

/** Accepts a whole number from 1. */
export const mustBeCount = mustBe(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
);

/** A check that accepts a whole number from `min` to `max`. */
export function mustBeWholeNumber(min: number, max: number): MemberCheck {
  const isInRange = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
  return mustBe(`a whole number from ${min} to ${max}`, isInRange);
}

/** Accepts the HTTP status of an answer that has a body. */
export const mustBeHttpStatus = mustBeWholeNumber(200, 599);

/** Accepts a duration in milliseconds that a timer can have. */
export const mustBeDuration = mustBe(
  `a number of milliseconds from 1 to ${maxTimerMs}`,
  (value) => typeof value === 'number' && value >= 1 && value <= maxTimerMs,
);

/** Accepts a number per second. */
export const mustBeRate = mustBe(
  'a number above 0',
  (value) => Number.isFinite(value) && Number(value) > 0,
);

/** Accepts the signals of other realms and libraries. */
export const mustBeSignal = mustBe('an AbortSignal', (value) =>
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
export const mustBePlainObject = mustBe('a plain object of keys and values', (value) => {
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
export function checkMembers<Members>(shape: Shape<Members>, value: unknown, isRow = false): void {
  const { what, members, required = [] } = shape;
  if (!isObject(value)) {
    throw new InvalidInputError(`${what}: ${typeOrNumber(value)} was given, not an object`, {
      hint: `Pass an object with ${Object.keys(members).join(', ')}.`,
    });
  }
  const missing = required.filter((name) => value[String(name)] === undefined);
  if (missing.length > 0) {
    const verb = missing.length === 1 ? 'is' : 'are';
    throw new InvalidInputError(`${what}: ${missing.join(', ')} ${verb} missing`);
  }
  for (const name in members) {
    const member = value[name];
    if (member === undefined) continue;
    const fault = members[name](member);
    if (fault !== null) throw new InvalidInputError(`${what}: ${name} ${fault}`);
  }
  if (isRow) return;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(members, name));
  if (unknown === undefined) return;
  throw new InvalidInputError(`${what}: ${quoteName(unknown)} is unknown`, {
    hint: `Known: ${Object.keys(members).join(', ')}.`,
  });
}

/** Whether a value is an object whose members have these types, as `typeof` names them. */
export function hasMembers(value: unknown, types: Readonly<Record<string, string>>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(types).every(([name, type]) => {
    const member = (value as Record<string, unknown>)[name];
    return typeof member === type && member !== null;
  });
}
