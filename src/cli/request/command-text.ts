import { hasUnsafe } from '../../core/contract/unsafe-text.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';

/** A command line as it is pasted; none if a character of it would not be seen. */
export function commandOf(args: readonly string[]): string[] {
  if (hasUnsafe(args.join(''))) return [];
  return [['userinfo', ...args].map(quoteWhereNeeded).join(' ')];
}

/**
 * The arguments with the options `added` at the end of the options. What they have of these options
 * and of those in `removed` is left out, with the values.
 */
export function withFlags(
  args: readonly string[],
  added: readonly string[],
  removed: readonly string[] = [],
): string[] {
  const leftOut = [...added, ...removed];
  const isLeftOut = (arg = '') =>
    arg.startsWith('--') && leftOut.includes(arg.split('=', 1)[0] ?? '');
  const isValueOfLeftOut = (before = '') => isLeftOut(before) && !before.includes('=');
  const kept = args.filter((arg, index) => !isLeftOut(arg) && !isValueOfLeftOut(args[index - 1]));
  const endOfOptions = kept.indexOf('--');
  if (endOfOptions === -1) return [...kept, ...added];
  return kept.toSpliced(endOfOptions, 0, ...added);
}
