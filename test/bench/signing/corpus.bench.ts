import { expect, it } from 'vitest';
import { searchOnThreads } from '../../../src/cli/solve/search-threads.js';
import { compileRecipe } from '../../../src/signing/compile-recipe.js';
import { completeRecipe } from '../../../src/signing/recipe.js';
import { Secret } from '../../../src/signing/secret.js';
import type { Signer } from '../../../src/signing/signer.js';
import { probesFor } from '../../../src/solve/probes.js';
import { solve } from '../../../src/solve/solve.js';
import { type Vector, vectors } from '../../support/signing-corpus.js';
import { cpuSeconds } from './cpu-seconds.js';

/** CPU seconds for one rule: 20 seconds on two cores. */
const limit = 40;

/** The result for one rule; a rank is 0 where it was not found. */
interface Outcome {
  readonly rank: number;
  /** With a second sample, which the first search designed. */
  readonly secondRank: number;
  readonly seconds: number;
  /** Number of recipes tried for the first sample. */
  readonly tried: number;
}

it('counts the documented rules that are found', { timeout: 3_600_000 }, async () => {
  const outcomes: Outcome[] = [];
  for (const vector of vectors.filter(({ digest }) => /^[\da-f]+$/i.test(digest))) {
    const outcome = await findRule(vector);
    const { rank, secondRank, seconds, tried } = outcome;
    const ranks = rank === 0 ? 'not found' : `rank ${rank}`;
    process.stdout.write(
      `  ${vector.name.padEnd(26)} ${ranks}, with a second sample ${secondRank}, ${tried} tried, ${seconds.toFixed(2)} s\n`,
    );
    outcomes.push(outcome);
  }
  const count = (is: (outcome: Outcome) => boolean) => `${outcomes.filter(is).length} of ${outcomes.length}`;
  process.stdout.write(
    `\nDocumented rules with a hexadecimal digest\n` +
      `  found                      ${count(({ rank }) => rank > 0)}\n` +
      `  among the first three      ${count(({ rank }) => rank > 0 && rank <= 3)}\n` +
      `  first, with a second one   ${count(({ secondRank }) => secondRank === 1)}\n` +
      `  most CPU seconds           ${Math.max(...outcomes.map(({ seconds }) => seconds)).toFixed(1)}\n`,
  );
  expect(outcomes.length).toBeGreaterThan(0);
});

async function findRule({ recipe, request, secret: text }: Vector): Promise<Outcome> {
  const rule = compileRecipe(completeRecipe(recipe));
  const secret = new Secret(text);
  const answersOf = (signer: Signer) => probesFor(request).map((probe) => signer.sign(probe, secret).digest);
  const wanted = answersOf(rule).join();
  const search = async (...requests: (typeof request)[]) => {
    const params = requests.flatMap((one) => one.params);
    const tasks = requests.map((one) => ({
      request: one,
      secret,
      signature: rule.sign(one, secret).digest,
      otherParams: params,
    }));
    const startedAt = cpuSeconds();
    const searcher = searchOnThreads({
      jobs: 1,
      signal: new AbortController().signal,
      timeLeft: () => limit - (cpuSeconds() - startedAt),
      onProgress: () => {},
    });
    const { fits, next, tried } = await solve(tasks, searcher, async () => {});
    const rank = fits.findIndex((fit) => answersOf(compileRecipe(fit.recipe)).join() === wanted) + 1;
    return { rank, next, tried, seconds: cpuSeconds() - startedAt };
  };
  const { rank, next, tried, seconds } = await search(request);
  const secondRank = next === null ? rank : (await search(request, next.request)).rank;
  return { rank, secondRank, seconds, tried };
}
