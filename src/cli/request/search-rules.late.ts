// Only commands that search a rule load it.
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type FindPairOptions, type FoundPair, findBoth } from '../../lab/find-both.js';
import type { SecretSample } from '../../lab/sample.js';
import type { CliContext } from '../command.js';
import { withProgress } from '../output/progress.js';

/**
 * Searches the rules of captured requests, with a line of progress on a terminal.
 *
 * @throws RecipeError for a partial recipe that is wrong however it is filled in; the signal's
 * reason
 */
export function searchRules(
  { io, signal }: CliContext,
  samples: readonly SecretSample[],
  rules: Pick<FindPairOptions, 'known' | 'partial'>,
): Promise<FoundPair> {
  let tried = 0;
  const onProgress = (count: number) => {
    tried = count;
  };
  const pause = async () => {
    await yieldToOthers();
    signal.throwIfAborted();
  };
  const progressNow = () => ({
    doing: 'searching',
    unit: 'rules',
    rows: tried,
    share: null,
    total: null,
  });
  return withProgress(io, { quiet: !io.stderr.isTTY }, progressNow, () =>
    findBoth(samples, { ...rules, pause, onProgress }),
  );
}
