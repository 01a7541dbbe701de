import { readFile } from 'node:fs/promises';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import { findJsonFault } from '../support/json-fault.js';
import type { CliContext } from './context.js';
import { readAll } from './io.js';
import { decodeUtf8 } from './utf8.js';

/**
 * Reads the text of a file, or of standard input for `-`.
 *
 * @throws InvalidInputError that names the file
 */
export async function readText({ io, signal }: CliContext, file: string): Promise<string> {
  const name = inputName(file);
  if (file === '-') return decodeUtf8(await readAll(io.stdin, signal), name);
  try {
    return decodeUtf8(await readFile(file), name);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new InvalidInputError(`${name} cannot be read (${code})`, { cause: error });
  }
}

/** The name of a file in messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : `the file ${quoteName(file)}`;
}

/**
 * Reads the JSON of a file, or of standard input for `-`.
 *
 * @throws InvalidInputError that names the file
 */
export async function readJson(context: CliContext, file: string): Promise<unknown> {
  return parseJson(await readText(context, file), inputName(file));
}

/** @throws InvalidInputError with the position of the error in the JSON called `name`, without any of its content */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    const place = fault === null ? '' : ` at line ${fault.line}, column ${fault.column}`;
    throw new InvalidInputError(`${name}: invalid JSON${place}`);
  }
}

/**
 * Reads one value from standard input, without the line break at its end; `what` names it in messages.
 *
 * @throws InvalidInputError if standard input is empty
 */
export async function readValue(context: CliContext, what: string): Promise<string> {
  const value = (await readText(context, '-')).replace(/\r?\n$/, '');
  if (value === '') throw new InvalidInputError(`standard input contains no ${what}`);
  return value;
}
