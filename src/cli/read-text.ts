import { readFile } from 'node:fs/promises';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import type { CliContext } from './context.js';
import { readAll } from './io.js';
import { decodeUtf8 } from './utf8.js';

/** The text of a file, or of standard input for `-`. Throws an InvalidInputError that names it. */
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

/** What messages call a file, or standard input for `-`. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : `the file ${quoteName(file)}`;
}
