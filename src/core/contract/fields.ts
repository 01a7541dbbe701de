import { InvalidInputError, quoteName } from './errors.js';

/** Whether a value has keys and values: an object that is not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

/** The type of a value, for a message. The value itself is shown only if it is a number. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return 'text';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name } = value.constructor ?? {};
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object';
  return `an instance of ${quoteName(name).slice(1, -1)}`;
}
