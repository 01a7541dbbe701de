import { expect, it } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { algorithms, writtenLength } from '../../../src/core/signing/digest-algorithms.js';
import { completeRecipe } from '../../../src/core/signing/recipe.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { type Chain, stepsOf, subOf } from '../../../src/lab/solve/candidates/chains.js';
import { searchSpace } from '../../../src/lab/solve/candidates/search-space.js';
import { compileChain } from '../../../src/lab/solve/search/compiled-chain.js';
import { requestOf } from '../../support/signing-requests.js';

const request = requestOf([
  ['code', 'c-77'],
  ['time', '1795283538'],
]);
const secret = new Secret('5up3r-53cr37-K3y');
const chainsFor = (length: number) =>
  searchSpace({ request, secret, signature: 'a'.repeat(length), otherParams: [] }).chains;

/** What the recipe that a chain stands for makes of a message. */
function digestBy(chain: Chain, message: string): string {
  const { key } = chain;
  const sub = subOf(chain);
  const recipe = completeRecipe({
    message: ['$body'],
    steps: stepsOf(chain),
    ...(key !== null && { key: key.rule }),
    ...(sub !== undefined && { sub }),
  });
  return compileRecipe(recipe).sign({ ...request, body: message }, secret).digest;
}

it.each(algorithms)(
  'tries a message by every chain to %s as the recipe digests it',
  (algorithm) => {
    const whole = chainsFor(writtenLength(algorithm, 'hex'))
      .filter(({ reading }) => reading.cut === null && reading.algorithm === algorithm)
      .slice(0, 500);
    const kinds = new Set<string>();
    for (const chain of whole) {
      const { reading } = chain;
      const digest = digestBy(chain, 'code=c-77&é');
      const fits = compileChain({ ...chain, reading: { ...reading, digest } });
      const fitting = ['e', 'è', 'é', ''].map((end) => `code=c-77&${end}`).filter(fits);
      expect(fitting, stepsOf(chain).join()).toEqual(['code=c-77&é']);
      kinds.add(
        chain.links.map((link) => (link.kind === 'digest' ? link.format : link.kind)).join(),
      );
    }
    expect(kinds.size).toBeGreaterThan(10);
  },
);

it('tries a message longer than any block', () => {
  const message = `${'x'.repeat(70_000)}${'é'.repeat(5000)}`;
  for (const chain of chainsFor(32).slice(0, 20)) {
    const fits = compileChain({
      ...chain,
      reading: { ...chain.reading, digest: digestBy(chain, message) },
    });
    expect([`${message}.`, message, ''].filter(fits)).toEqual([message]);
  }
});
