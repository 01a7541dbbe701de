import { findJsonFault } from '../profiles/json-fault.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { CliContext } from './context.js';
import { inputName, readText } from './read-text.js';

/** The JSON of a file, or of standard input for `-`. Throws an InvalidInputError that names it. */
export async function readJson(context: CliContext, file: string): Promise<unknown> {
  return parseJson(await readText(context, file), inputName(file));
}

/** Throws an InvalidInputError that tells where the JSON called `name` is wrong, and shows nothing of it. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    const place = fault === null ? '' : `: the fault is at line ${fault.line}, column ${fault.column}`;
    throw new InvalidInputError(`${name} is not JSON${place}`);
  }
}
