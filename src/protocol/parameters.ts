import type { Endpoint, Parameter } from './endpoints.js';
import { InvalidInputError } from './errors.js';
import { resultCode } from './result-codes.js';
import { quoteName, textFault } from './text.js';

/** The parameters of one request by name, in the order they were sent. */
export type Parameters = ReadonlyMap<string, string>;

/** How long the two signatures must be, in characters: what the recipes in force yield; `null` where unknown. */
export interface SignatureLengths {
  readonly app_sign: number | null;
  readonly sign: number | null;
}

/** The value of a parameter; empty where it was not sent. */
export function parameterText(parameters: Parameters, name: string): string {
  return parameters.get(name) ?? '';
}

/**
 * Gathers pairs into parameters, each name once. Throws an InvalidInputError (40002) for a name that comes twice,
 * or for text that could only be stored damaged.
 */
export function collectParameters(pairs: Iterable<readonly [string, string]>): Parameters {
  const parameters = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (textFault(name) !== null) throw malformed(`a parameter name ${textFault(name)}`);
    checkText(name, value);
    if (parameters.has(name)) throw malformed(`parameter ${quoteName(name)} is given twice`);
    parameters.set(name, value);
  }
  return parameters;
}

/** Throws an InvalidInputError (40002) for a value that could only be stored damaged. */
export function checkText(name: string, value: string): void {
  const fault = textFault(value);
  if (fault !== null) throw malformed(`parameter ${quoteName(name)} ${fault}`);
}

/**
 * Checks parameters against the endpoint's table: first that nothing required is missing (40001), then that
 * everything is well formed (40002). Throws an InvalidInputError. `user_info` and what depends on it has rules of
 * its own: see `checkPassback`.
 */
export function checkParameters(endpoint: Endpoint, parameters: Parameters): void {
  checkRequired(endpoint, parameters);
  for (const parameter of endpoint.parameters) {
    const value = parameters.get(parameter.name);
    if (value) checkForm(parameter, value);
  }
}

/** Checks that nothing required is missing; empty text counts as missing. Throws an InvalidInputError (40001). */
export function checkRequired(endpoint: Endpoint, parameters: Parameters): void {
  for (const { name, required } of endpoint.parameters) {
    if (required === true && !parameters.get(name)) {
      throw new InvalidInputError(`parameter ${name} is missing`, {
        resultCode: resultCode.missingParameter,
      });
    }
  }
}

/** The optional parameters that were not sent: each with its default, where it has one, and empty. */
export function unsentParameters(
  endpoint: Endpoint,
  sent: Parameters,
): (readonly [name: string, value: string])[] {
  return endpoint.parameters
    .filter(({ name, required }) => required !== true && !sent.has(name))
    .flatMap(({ name, default: usual }) =>
      (usual === undefined ? [''] : [usual, '']).map((value) => [name, value] as const),
    );
}

function checkForm({ name, length, digits, values }: Parameter, value: string): void {
  if (length !== undefined) {
    let characters = 0;
    for (const _ of value) characters += 1;
    if (characters < length.min || characters > length.max) {
      throw malformed(`${name} has ${characters} characters; it must have ${length.min} to ${length.max}`);
    }
  }
  if (digits !== undefined && !(value.length === digits && /^\d+$/.test(value))) {
    throw malformed(`${name} is not a whole number of ${digits} digits`);
  }
  if (values !== undefined && !values.includes(value)) {
    throw malformed(`${name} ${quoteName(value)} is not understood; it can be ${values.join(' or ')}`);
  }
}

/** §8, with recipes of other lengths: throws an InvalidInputError (40002) for a signature of another length. */
export function checkSignatureLengths(parameters: Parameters, lengths: SignatureLengths): void {
  for (const name of ['app_sign', 'sign'] as const) {
    const found = parameters.get(name)?.length;
    if (lengths[name] !== null && found !== lengths[name])
      throw malformed(`${name} has ${found} characters, not ${lengths[name]}`);
  }
}

function malformed(message: string): InvalidInputError {
  return new InvalidInputError(message, { resultCode: resultCode.malformedParameter });
}
