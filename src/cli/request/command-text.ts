import { hasUnsafe } from '../../core/contract/unsafe-text.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';

/** A command line as it is pasted; none if a character of it would not be seen. */
export function commandOf(args: readonly string[]): string[] {
  return hasUnsafe(args.join('')) ? [] : [['userinfo', ...args].map(quoteWhereNeeded).join(' ')];
}

/**
 * The arguments with `more` at the end of the options, without the options that it names and those
 * in `without`, and their values.
 */
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
