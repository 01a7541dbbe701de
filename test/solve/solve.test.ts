import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { compileRecipe } from '../../src/signing/compile-recipe.js';
import { completeRecipe, type RecipeJson } from '../../src/signing/recipe.js';
import type { SignableRequest } from '../../src/signing/request.js';
import { Secret } from '../../src/signing/secret.js';
import type { Signer } from '../../src/signing/signer.js';
import { probesFor } from '../../src/solve/probes.js';
import { solve, TimeOver } from '../../src/solve/solve.js';
import type { SolveTask } from '../../src/solve/tasks.js';
import { searchUpTo } from '../support/search-up-to.js';
import { vectors } from '../support/signing-corpus.js';

const secret = new Secret('5up3r-53cr37-K3y');
const noPause = async () => {};

function solveBy(signer: Signer, key: Secret, requests: readonly SignableRequest[], mostTried = 3_000_000) {
  const tasks = requests.map((request): SolveTask => {
    const others = requests.filter((other) => other !== request);
    return {
      request,
      secret: key,
      signature: signer.sign(request, key).digest,
      otherParams: others.flatMap(({ params }) => params),
    };
  });
  return solve(tasks, searchUpTo(mostTried), noPause);
}

/** The place of a rule among the fits, from 1; 0 where it is not among them. */
function rankOf(
  rule: Signer,
  key: Secret,
  request: SignableRequest,
  { fits }: Awaited<ReturnType<typeof solve>>,
) {
  const answers = (signer: Signer) =>
    probesFor(request)
      .map((probe) => signer.sign(probe, key).digest)
      .join(' ');
  return fits.findIndex(({ recipe }) => answers(compileRecipe(recipe)) === answers(rule)) + 1;
}

/** One of each kind: test/bench/signing/corpus.bench.ts has them all. */
const kinds = ['taobao-top-hmac-md5', 'cregis'];

const read: SignableRequest = {
  method: 'GET',
  url: 'https://example.com/api/v1/user',
  params: [
    ['tenant_code', 'acme'],
    ['app_key', 'app_ef24'],
    ['channel', 'web'],
    ['code', 'c-77'],
    ['random', 'jsLVnVXqNoxLx'],
    ['timestamp', '1795283538'],
  ],
  body: null,
  extra: {},
};

const appProofs: readonly (readonly [name: string, recipe: RecipeJson])[] = [
  [
    'a digest of a digest with the secret behind it',
    { message: ['$param:app_key', '$param:timestamp'], steps: ['md5', 'append:$secret', 'md5'] },
  ],
  [
    'a digest of its own inside',
    {
      message: ['$sub', '$param:timestamp'],
      sub: { message: ['$param:app_key', '$secret'], steps: ['md5'] },
      steps: ['md5'],
    },
  ],
];

describe('solve', { timeout: 120_000 }, () => {
  it.each(kinds)('finds %s among the first, and first with the proposed sample', async (name) => {
    const vector = vectors.find((known) => known.name === name);
    if (vector === undefined) throw new Error(`no vector ${name}`);
    const rule = compileRecipe(completeRecipe(vector.recipe));
    const key = new Secret(vector.secret);
    const one = await solveBy(rule, key, [vector.request]);
    const rank = rankOf(rule, key, vector.request, one);
    expect([1, 2, 3, 4]).toContain(rank);
    if (one.next === null) throw new Error('no sample was designed');
    const two = await solveBy(rule, key, [vector.request, one.next.request]);
    expect(rankOf(rule, key, vector.request, two)).toBe(1);
    expect(two.fits.length).toBeLessThan(one.fits.length);
  });

  it.each(appProofs)('finds an app proof that is %s', async (_, json) => {
    const rule = compileRecipe(completeRecipe(json));
    const found = await solveBy(rule, secret, [read]);
    expect(rankOf(rule, secret, read, found)).toBe(1);
  });

  it('lists only distinct recipes that sign the sample', async () => {
    const rule = compileRecipe(completeRecipe({ message: ['$params', '$secret'], steps: ['sha1'] }));
    const { fits } = await solveBy(rule, secret, [read]);
    const { digest } = rule.sign(read, secret);
    const answers = fits.map(({ recipe }) => {
      const signer = compileRecipe(recipe);
      expect(signer.sign(read, secret).digest).toBe(digest);
      return probesFor(read)
        .map((probe) => signer.sign(probe, secret).digest)
        .join(' ');
    });
    expect(new Set(answers).size).toBe(fits.length);
    expect(fits.map(({ bits }) => bits)).toEqual(fits.map(({ bits }) => bits).sort((a, b) => a - b));
  });

  it('never puts the secret into a recipe, even if a parameter contains it', async () => {
    const swapped: SignableRequest = {
      ...read,
      params: [
        ['app_key', secret.reveal()],
        ['t', '1'],
      ],
    };
    const rule = compileRecipe(completeRecipe({ message: ['$params', '&key=', '$secret'], steps: ['md5'] }));
    const { fits } = await solveBy(rule, secret, [swapped]);
    expect(fits.length).toBeGreaterThan(0);
    expect(JSON.stringify(fits)).not.toContain(secret.reveal());
  });

  it('finds nothing with a wrong secret, and reports what was searched', async () => {
    const rule = compileRecipe(completeRecipe({ message: ['$params', '$secret'], steps: ['md5'] }));
    const { digest } = rule.sign(read, new Secret('another'));
    const task = { request: read, secret, signature: digest, otherParams: [] };
    const nothing = await solve([task], searchUpTo(50_000), noPause);
    expect(nothing).toMatchObject({ fits: [], next: null, isComplete: false, isDivided: false });
    expect(nothing.tried).toBeGreaterThan(50_000);
    expect(nothing.bits).toBeGreaterThan(15);
  });

  it('reports samples by different rules: no recipe fits all', async () => {
    const tasks = (['md5', 'sha1'] as const).map((step, index): SolveTask => {
      const request = { ...read, params: [...read.params, ['n', `${index}`] as const] };
      const rule = compileRecipe(completeRecipe({ message: ['$params', '$secret'], steps: [step] }));
      return { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
    });
    const divided = await solve(tasks, searchUpTo(Number.POSITIVE_INFINITY), noPause);
    expect(divided).toMatchObject({ fits: [], isDivided: true });
  });
});

it('no recipe is proposed that the language refuses, such as one that removes characters of the secret', async () => {
  const params = [...read.params.slice(0, 2), ['note', 'a b'] as const];
  const signed = [params[1], ['key', secret.reveal()], ['note', 'ab'], params[0]].map((pair) =>
    pair?.join('='),
  );
  const signature = createHash('md5').update(signed.join('&')).digest('hex');
  const task = { request: { ...read, params }, secret, signature, otherParams: [] };
  expect(await solve([task], searchUpTo(300_000), noPause)).toMatchObject({ fits: [], isDivided: false });
});

it('with what a document says, a message of ten parts is found', async () => {
  const extra = { 'X-Auth': 'k 0', 'X-Nonce': 'f93c979d', 'X-Time': '1717171717000', 'X-Version': 'v2' };
  const url = 'https://www.example.net/api/v2/x/';
  const request = { ...read, method: 'POST', url, params: [], body: 'offset=1', extra };
  const tokens = [
    '$extra:X-Auth',
    '$method',
    '$host',
    '$path',
    '$extra:X-Nonce',
    '$extra:X-Time',
    '$extra:X-Version',
  ];
  const rule = compileRecipe(
    completeRecipe({ message: ['v2/', ...tokens, '$body'], steps: ['hmac-sha256'] }),
  );
  const task = { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
  const hints = { steps: ['hmac-sha256'], join: '', headers: Object.keys(extra), constants: ['v2/'] };
  const found = await solve([task], searchUpTo(0), noPause, { hints, pause: noPause });
  expect(rankOf(rule, secret, request, found)).toBe(1);
  // Nothing fits: the search goes on until its time is over.
  let turns = 0;
  const pause = async () => {
    turns += 1;
    if (turns > 50) throw new TimeOver();
  };
  const wrong = { hints: { ...hints, join: '&' }, pause };
  expect(await solve([task], searchUpTo(0), noPause, wrong)).toMatchObject({ fits: [] });
});
