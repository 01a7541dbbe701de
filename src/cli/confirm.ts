import { InvalidInputError } from '../protocol/errors.js';
import type { CliContext } from './context.js';

/**
 * Asks before something that cannot be taken back; `--yes` is the answer given in advance. Throws an
 * InvalidInputError where the answer is no, or where nobody can be asked: nothing was done.
 */
export async function confirm(
  { prompt }: CliContext,
  question: string,
  yes: boolean | undefined,
): Promise<void> {
  if (yes) return;
  if (!prompt.possible) {
    throw new InvalidInputError(`nobody can be asked: ${question}`, {
      hint: 'Add --yes where that is the answer. Nothing was done.',
    });
  }
  if (!(await prompt.confirm(question))) throw new InvalidInputError('the answer was no: nothing was done');
}
