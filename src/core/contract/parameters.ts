import type { Endpoint, Parameter } from './endpoints.js';
import { InvalidInputError, quoteName } from './errors.js';
import { splitInfoNames } from './info-names.js';
import { resultCode } from './result-codes.js';
import { textFault } from './unsafe-text.js';

/** The parameters of one request by name, in the order in which they were sent. */
export type Parameters = ReadonlyMap<string, string>;

/** The value of a parameter, or the empty string. */
export function parameterText(parameters: Parameters, name: string): string {
  return parameters.get(name) ?? '';
}

/**
 * Collects pairs into parameters.
 *
 * @throws InvalidInputError (40002) for a duplicate name, or for text that cannot be stored
 * undamaged
 */
export function collectParameters(
  pairs: Iterable<readonly [string, string, ...unknown[]]>,
): Parameters {
  const parameters = new Map<string, string>();
  for (const [name, value] of pairs) {
    checkText(name, value);
    if (parameters.has(name)) throw malformed(`parameter ${quoteName(name)} is given twice`);
    parameters.set(name, value);
  }
  return parameters;
}

/**
 * Checks that an operation has a parameter of this name in this place (§4: "as listed").
 *
 * @throws InvalidInputError (40002)
 */
export function checkPlace(endpoint: Endpoint, place: Parameter['in'], name: string): void {
  const parameter = endpoint.parameters.find((listed) => listed.name === name);
  if (parameter === undefined)
    throw new InvalidInputError(`${endpoint.operation} has no parameter ${quoteName(name)}`, {
      detail: 'unknownParameter',
    });
  if (parameter.in === place) return;
  const part = parameter.in === 'form' ? 'body' : 'query';
  throw malformed(`parameter ${name} belongs in the ${part}`);
}

/** @throws InvalidInputError (40002) for a value that cannot be stored undamaged */
export function checkText(name: string, value: string): void {
  const fault = textFault(value);
  if (fault !== null) throw malformed(`parameter ${quoteName(name)} ${fault}`);
}

/**
 * Checks parameters against the endpoint's table. `user_info` and the parameters that depend on it
 * are checked by `checkPassback`.
 *
 * @throws InvalidInputError 40001 if a required one is missing, then 40002 if one is malformed
 */
export function checkParameters(endpoint: Endpoint, parameters: Pick<Parameters, 'get'>): void {
  checkRequired(endpoint, parameters);
  for (const parameter of endpoint.parameters) {
    const value = parameters.get(parameter.name);
    if (value) checkFormat(parameter, value);
  }
}

/**
 * Checks that no required parameter is missing; an empty one counts as missing.
 *
 * @throws InvalidInputError (40001)
 */
export function checkRequired(endpoint: Endpoint, parameters: Pick<Parameters, 'get'>): void {
  for (const { name, required } of endpoint.parameters) {
    if (required !== true || parameters.get(name)) continue;
    throw new InvalidInputError(`parameter ${name} is missing`, {
      resultCode: resultCode.missingParameter,
    });
  }
}

/** The optional parameters that were not sent: each with its default, if it has one, and empty. */
export function unsentParameters(
  endpoint: Endpoint,
  sent: Parameters,
): (readonly [name: string, value: string])[] {
  const unsent: (readonly [name: string, value: string])[] = [];
  for (const { name, required, default: assumed } of endpoint.parameters) {
    if (required === true || sent.has(name)) continue;
    if (assumed !== undefined) unsent.push([name, assumed]);
    unsent.push([name, '']);
  }
  return unsent;
}

function checkFormat({ name, length, digits, isList }: Parameter, value: string): void {
  if (length !== undefined) {
    const characters = [...value].length;
    if (characters < length.min || characters > length.max) {
      throw malformed(
        `${name} has ${characters} characters; it must have ${length.min} to ${length.max}`,
      );
    }
  }
  if (digits !== undefined && !(value.length === digits && /^\d+$/.test(value))) {
    throw malformed(`${name} is not a whole number of ${digits} digits`, 'Check the system clock.');
  }
  if (isList && splitInfoNames(value).length === 0) throw malformed(`${name} holds no name`);
}

/**
 * Checks the length of a signature (§8), in characters: `length` is that of its recipe, `null` if
 * unknown.
 *
 * @throws InvalidInputError (40002)
 */
export function checkSignatureLength(
  name: 'app_sign' | 'sign',
  signature: string | undefined,
  length: number | null,
): void {
  const sentLength = signature?.length;
  if (length !== null && sentLength !== length)
    throw malformed(`${name} has ${sentLength} characters, not ${length}`);
}

function malformed(message: string, hint?: string): InvalidInputError {
  return new InvalidInputError(message, { resultCode: resultCode.malformedParameter, hint });
}
