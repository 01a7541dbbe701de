import { InvalidInputError } from '../../protocol/errors.js';
import type { PasteFault } from '../../protocol/pasted-text.js';
import { hasUnsafe } from '../../protocol/unsafe-text.js';
import { quoteWhereNeeded } from '../../support/shell.js';

/** A command line as it is pasted; none if a character of it would not be seen. */
export function commandOf(args: readonly string[]): string[] {
  return hasUnsafe(args.join('')) ? [] : [['userinfo', ...args].map(quoteWhereNeeded).join(' ')];
}

/** The command line that sends names, code and user as they are. */
export function asTheyAre(args: readonly string[]): string[] {
  return commandOf(withFlags(args, ['--any-name']));
}

/** The arguments with `more` at the end of the options, without the options that it names and those in `without`, and their values. */
export function withFlags(
  args: readonly string[],
  more: readonly string[],
  without: readonly string[] = [],
): string[] {
  const isLeftOut = (arg = '') =>
    arg.startsWith('--') && [...more, ...without].includes(arg.split('=')[0] ?? '');
  const isItsValue = (at: number) => isLeftOut(args[at - 1]) && !args[at - 1]?.includes('=');
  const kept = args.filter((arg, at) => !isLeftOut(arg) && !isItsValue(at));
  return kept.toSpliced(kept.includes('--') ? kept.indexOf('--') : kept.length, 0, ...more);
}

/** The command line with other arguments in place of `typed`, an argument or the value of an option; none if it is neither. */
export function retyped(args: readonly string[], typed: string | null, ...instead: string[]): string[] {
  const at = args.findIndex((arg) => arg === typed || (arg.startsWith('--') && arg.endsWith(`=${typed}`)));
  const given = args[at];
  if (typed === null || given === undefined) return [];
  const [first = '', ...more] = instead;
  const option = given.slice(0, given.length - typed.length);
  return commandOf([...args.slice(0, at), option + first, ...more, ...args.slice(at + 1)]);
}

/**
 * Refuses a text, called `what`, that was pasted with something. The commands are printed that leave it out, and that
 * send the text as it is.
 *
 * @throws InvalidInputError
 */
export function refusePasted(
  what: string,
  fault: Pick<PasteFault, 'what'> & Partial<PasteFault>,
  without: readonly string[],
  asIs: readonly string[] = [],
): never {
  const both = asIs.length > 0 ? 'Corrected, or as it is:' : 'Corrected:';
  const one = asIs.length > 0 ? `${fault.hint ?? 'Correct it.'} To send it as it is:` : 'Correct it.';
  throw new InvalidInputError(`${what} ${fault.what}`, {
    hint: without.length > 0 ? both : asIs.length > 0 ? one : (fault.hint ?? one),
    commands: [...without, ...asIs],
  });
}
