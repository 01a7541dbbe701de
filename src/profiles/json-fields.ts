import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON object; with `known`, one without any other field. Throws an InvalidInputError that begins with `label`. */
export function readObject(json: unknown, label: string, known?: readonly string[]): JsonObject {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new InvalidInputError(`${label} is not an object`);
  }
  const unknown = known && Object.keys(json).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidInputError(`${label} has the unknown field ${quoteName(unknown)}`, {
      hint: 'A newer userinfo may have written it: upgrade, or take the field out by hand.',
    });
  }
  return json as JsonObject;
}

/** A field that must be there and hold text. Throws an InvalidInputError that begins with `label`. */
export function readText(json: JsonObject, field: string, label = field): string {
  const value = Object.hasOwn(json, field) ? json[field] : undefined;
  if (typeof value === 'string' && value !== '') return value;
  const fault = value === undefined ? 'is missing' : value === '' ? 'is empty' : 'is not text';
  throw new InvalidInputError(`${label} ${fault}`);
}
