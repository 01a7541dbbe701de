import { InvalidInputError } from '../protocol/errors.js';
import type { CliContext } from './context.js';
import { readText } from './read-text.js';

/**
 * One value from standard input, without the line break at its end; `what` names it. Throws an InvalidInputError where
 * there is none.
 */
export async function readValue(context: CliContext, what: string): Promise<string> {
  const value = (await readText(context, '-')).replace(/\r?\n$/, '');
  if (value === '') throw new InvalidInputError(`standard input holds no ${what}`);
  return value;
}
