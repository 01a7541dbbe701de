import { InvalidInputError } from '../core/contract/errors.js';
import type { Io } from './io.js';
import { showText } from './output/terminal-text.js';

/** Prompts to the user at the terminal, written to stderr. Each loads its library. */
export function createPrompt(io: Io, signal: AbortSignal, allowed: boolean) {
  const terminal = () => ({
    input: io.stdin,
    output: io.stderr,
    signal,
    clearPromptOnDone: false,
  });
  return {
    /**
     * Whether stdin and stderr are terminals, stdin is not at its end, and `--no-input` is not set.
     */
    get possible(): boolean {
      return (
        allowed && io.stdin.isTTY === true && io.stderr.isTTY === true && !io.stdin.readableEnded
      );
    },
    async text(
      message: string,
      check: (answer: string) => true | string = () => true,
    ): Promise<string> {
      const { default: input } = await import('@inquirer/input');
      return input({ message: showText(message), validate: check }, terminal());
    },
    /** The input is not echoed. */
    async secret(message: string): Promise<string> {
      const validate = (answer: string) => (answer === '' ? 'A value is required.' : true);
      const { default: password } = await import('@inquirer/password');
      return password({ message: showText(message), mask: false, validate }, terminal());
    },
    async confirm(message: string): Promise<boolean> {
      const { default: ask } = await import('@inquirer/confirm');
      return ask({ message: showText(message), default: false }, terminal());
    },
    async choose(message: string, choices: readonly string[]): Promise<string> {
      const options = choices.map((value) => ({ value }));
      const { default: select } = await import('@inquirer/select');
      return select({ message: showText(message), choices: options }, terminal());
    },
  };
}

/** What a prompt says of an answer that `check` refuses; `true` for one that it takes. */
export function answerFault(check: () => unknown): true | string {
  try {
    check();
    return true;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return [error.message, error.hint].filter((part) => part !== undefined).join('. ');
  }
}

/**
 * Asks for confirmation of something that cannot be undone; `--yes` confirms in advance.
 *
 * @throws InvalidInputError if the answer is no, or there is no terminal to ask on
 */
export async function confirm(
  { prompt }: { readonly prompt: ReturnType<typeof createPrompt> },
  question: string,
  yes: boolean | undefined,
): Promise<void> {
  if (yes) return;
  if (!prompt.possible) {
    throw new InvalidInputError(
      `confirmation needed, and there is no terminal to ask on: ${question}`,
      { hint: 'Add --yes if that is what you want.' },
    );
  }
  if (!(await prompt.confirm(question)))
    throw new InvalidInputError('not confirmed: nothing was done');
}
