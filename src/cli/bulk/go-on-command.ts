import { quoteWhereNeeded } from '../shell-words.js';

/** The command line, as `args` had it, that goes on with a run. */
export function goOnCommand(args: readonly string[]): string {
  const kept = args.filter((arg) => arg !== '--restart' && arg !== '--resume');
  return ['userinfo', ...kept, '--resume'].map(quoteWhereNeeded).join(' ');
}
