import { describe, expect, it } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import {
  completeRecipe,
  type KeyDecoding,
  type Recipe,
  type RecipeJson,
} from '../../../src/core/signing/recipe.js';
import type { SignableRequest } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import type { Signer } from '../../../src/core/signing/signer.js';
import { type RecipeCandidate, sortByBits } from '../../../src/lab/solve/candidates/cost.js';
import { changesOf } from '../../../src/lab/solve/changes.js';
import { fittingRecipes, signs } from '../../../src/lab/solve/fitting-recipes.js';
import { findNeighbour } from '../../../src/lab/solve/neighbours.js';
import { findByHints, withHints } from '../../../src/lab/solve/open-recipe.js';
import { probesFor } from '../../../src/lab/solve/probes.js';
import { maxHinted } from '../../../src/lab/solve/search/shares.js';
import { solve, TimeOver } from '../../../src/lab/solve/solve.js';
import type { Hints, SolveTask } from '../../../src/lab/solve/tasks.js';
import { withValueAt } from '../../../src/lab/verify/recipe-changes.js';
import { searchUpTo } from '../../support/search-up-to.js';
import { vectors } from '../../support/signing-corpus.js';

const secret = new Secret('5up3r-53cr37-K3y');
const noPause = async () => {};

function solveBy(
  signer: Signer,
  key: Secret,
  requests: readonly SignableRequest[],
  maxTried = 3_000_000,
) {
  const tasks = requests.map((request): SolveTask => {
    const others = requests.filter((other) => other !== request);
    return {
      request,
      secret: key,
      signature: signer.sign(request, key).digest,
      otherParams: others.flatMap(({ params }) => params),
    };
  });
  return solve(tasks, searchUpTo(maxTried), noPause);
}

/** The place of a rule among the fits, from 1; 0 where it is not among them. */
function rankOf(
  rule: Signer,
  key: Secret,
  request: SignableRequest,
  fits: readonly RecipeCandidate[],
) {
  const answers = (signer: Signer) =>
    probesFor(request)
      .map((probe) => signer.sign(probe, key).digest)
      .join(' ');
  return fits.findIndex(({ recipe }) => answers(compileRecipe(recipe)) === answers(rule)) + 1;
}

const read: SignableRequest = {
  method: 'GET',
  url: 'https://example.com/api/v1/user',
  params: Object.entries({
    ...{ tenant_code: 'acme', app_key: 'app_ef24', channel: 'web', code: 'c-77' },
    ...{ random: 'jsLVnVXqNoxLx', timestamp: '1795283538' },
  }),
  body: null,
  extra: {},
};

describe('solve', { timeout: 120_000 }, () => {
  it('finds a rule among the first, and first with the proposed sample', async () => {
    const vector = vectors.find(({ name }) => name === 'cregis');
    if (vector === undefined) throw new Error('no such vector');
    const rule = compileRecipe(completeRecipe(vector.recipe));
    const key = new Secret(vector.secret);
    const one = await solveBy(rule, key, [vector.request]);
    const rank = rankOf(rule, key, vector.request, one.fits);
    expect([1, 2, 3, 4]).toContain(rank);
    if (one.next === null) throw new Error('no sample was designed');
    const two = await solveBy(rule, key, [vector.request, one.next.request]);
    expect(rankOf(rule, key, vector.request, two.fits)).toBe(1);
    expect(two.fits.length).toBeLessThan(one.fits.length);
  });

  it('lists the likeliest recipe of each function up to 11 bits above the first, or 2 where the time is over', async () => {
    const rule = compileRecipe(
      completeRecipe({ message: ['$params', '$secret'], steps: ['sha1'] }),
    );
    const request = { ...read, params: read.params.slice(3, 5) };
    const { fits } = await solveBy(rule, secret, [request]);
    const { digest } = rule.sign(request, secret);
    const [hit] = fits;
    if (hit === undefined) throw new Error('nothing was found');
    const task = { request, secret, signature: digest, otherParams: [] };
    const unchanged = { apply: (recipe: Recipe) => recipe, bits: 0 };
    const answersOf = (recipe: Recipe) =>
      JSON.stringify(
        probesFor(request).map((probe) => compileRecipe(recipe).sign(probe, secret).digest),
      );
    const silent = changesOf(hit.recipe, task).filter(({ apply }) =>
      signs(apply(hit.recipe), task),
    );
    const least = new Map<string, number>();
    const visit = ({ recipe, bits }: RecipeCandidate, [place, ...others]: readonly string[]) => {
      if (place !== undefined) {
        for (const { apply, bits: own } of [
          unchanged,
          ...silent.filter((change) => change.place === place),
        ])
          if (bits + own <= hit.bits + 11)
            visit({ recipe: apply(recipe), bits: bits + own }, others);
      } else if (signs(recipe, task)) {
        const answers = answersOf(recipe);
        least.set(answers, Math.min(bits, least.get(answers) ?? bits));
      }
    };
    visit(hit, [...new Set(silent.map(({ place }) => place))]);
    expect(new Map(fits.map(({ recipe, bits }) => [answersOf(recipe), bits]))).toEqual(least);
    expect(fits.map(({ bits }) => bits)).toEqual([...least.values()].sort((a, b) => a - b));
    const late = async () => {
      throw new TimeOver();
    };
    const cut = await solve(
      [task],
      async () => ({ tried: 1, hit, bits: 0, isComplete: true }),
      late,
    );
    expect(cut).toMatchObject({
      isCutShort: true,
      fits: fits.filter(({ bits }) => bits <= hit.bits + 2),
    });
  });

  it('never puts the secret into a recipe, even if a parameter contains it', async () => {
    const swapped: SignableRequest = {
      ...read,
      params: [
        ['app_key', secret.reveal()],
        ['t', '1'],
      ],
    };
    const rule = compileRecipe(
      completeRecipe({ message: ['$params', '&key=', '$secret'], steps: ['md5'] }),
    );
    const { fits } = await solveBy(rule, secret, [swapped]);
    expect(fits.length).toBeGreaterThan(0);
    expect(JSON.stringify(fits)).not.toContain(secret.reveal());
  });

  it('reports samples by different rules: no recipe fits all', async () => {
    const tasks = (['md5', 'sha1'] as const).map((step, index): SolveTask => {
      const request = { ...read, params: [['n', `${index}`] as const] };
      const rule = compileRecipe(
        completeRecipe({ message: ['$params', '$secret'], steps: [step] }),
      );
      return { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
    });
    const divided = await solve(tasks, searchUpTo(Number.POSITIVE_INFINITY), noPause);
    expect(divided).toMatchObject({ fits: [], isDivided: true });
  });
});

it('no recipe is listed that the language refuses, such as one that removes characters of the secret', async () => {
  const recipe = completeRecipe({
    params: { add: { key: '$secret' } },
    message: ['$params'],
    steps: ['md5'],
  });
  const { digest } = compileRecipe(recipe).sign(read, secret);
  const task = { request: read, secret, signature: digest, otherParams: [] };
  const { fits } = await fittingRecipes(
    { task, hit: { recipe, bits: 8 }, slack: 10, pause: noPause },
    [task],
  );
  const tables = fits.flatMap(({ recipe: { params } }) =>
    Object.values(params.add).includes('$secret') ? Object.entries(params.escape) : [],
  );
  expect(tables.length).toBeGreaterThan(0);
  expect(tables.filter(([text, by]) => by !== `\\${text}`)).toEqual([]);
});

it.each([
  ['', '', ['$param:app_key', '$param:channel']],
  ['', '|', ['$param:app_key', '|', '$param:channel']],
  ['|', '|', ['$param:app_key', '$param:channel']],
])(
  'values in a block are listed one by one, too, and the reverse: parts joined by %j, values by %j',
  async (join, pairSep, values) => {
    const request = { ...read, params: read.params.slice(1, 3) };
    const params = { order: ['app_key', 'channel'], names: false, pairSep };
    const block = completeRecipe({ params, join, message: ['$params', '$secret'], steps: ['md5'] });
    const list = completeRecipe({ join, message: [...values, '$secret'], steps: ['md5'] });
    const signature = compileRecipe(list).sign(request, secret).digest;
    const task = { request, secret, signature, otherParams: [] };
    for (const recipe of values.length === 2 ? [block, list] : [block]) {
      const listing = { task, hit: { recipe, bits: 8 }, slack: 6, pause: noPause };
      const { fits } = await fittingRecipes(listing, [task]);
      expect(sortByBits(fits)).toEqual(fits);
      const other = compileRecipe(recipe === block ? list : block);
      expect(rankOf(other, secret, request, fits)).toBeGreaterThan(1);
    }
  },
);

it('says when another sample decides nothing', async () => {
  const rule = compileRecipe(completeRecipe({ message: ['$params', '$secret'], steps: ['md5'] }));
  const again = { ...read, params: read.params.with(2, ['channel', 'app']) };
  const twice = await solveBy(rule, secret, [read, again]);
  expect(twice).toMatchObject({ ruledOut: 0 });
  const empty = { ...read, params: read.params.with(2, ['channel', '']) };
  const { ruledOut, groups } = await solveBy(rule, secret, [read, empty]);
  expect(ruledOut).toBeGreaterThan(0);
  expect(twice.groups.map(({ change }) => change)).toContain('leave "channel" empty');
  expect(groups.map(({ change }) => change)).not.toContain('leave "channel" empty');
});

it.each<[string, RecipeJson]>([
  ['a preset', { params: { empty: 'drop' }, message: ['$params', '$secret'], steps: ['md5'] }],
  [
    'one change',
    { params: { json: 'values', empty: 'drop' }, message: ['$params', '$secret'], steps: ['md5'] },
  ],
  [
    'two changes',
    {
      params: { order: 'sent', exclude: ['code'] },
      message: ['$params', '&key=', '$secret'],
      steps: ['sha1'],
    },
  ],
])('the neighbours of known rules have %s', async (_, json) => {
  const rule = compileRecipe(json);
  const request = { ...read, params: read.params.slice(2, 5).toReversed() };
  const task = { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
  const { hit } = await findNeighbour([task], noPause);
  expect(hit && compileRecipe(hit.recipe).sign(request, secret).digest).toBe(task.signature);
});

const lines = ['$method', '$path', '$body.sha256', '$extra:X-Time'];
const keyed = (message: string, token: string, decode: KeyDecoding) => ({
  message: [message],
  steps: ['hmac-sha256'],
  key: { tokens: [token], decode },
});
const derived: RecipeJson = {
  ...keyed('$body', '$sub:signing', 'hex'),
  sub: {
    date: keyed('$extra:X-Time', '$secret', 'utf8'),
    signing: keyed('$host', '$sub:date', 'hex'),
  },
};
it.each<[string, RecipeJson, ...string[]]>([
  ['an entry of the message', { message: lines, join: '\n', steps: ['hmac-sha256'] }, 'message.1'],
  ['the text between them', { message: lines, join: '\n', steps: ['hmac-sha256'] }, 'join'],
  ['the digests', { message: lines, join: '\n', steps: ['hmac-sha256'] }, 'steps'],
  [
    'a digest and the key',
    { message: lines, join: '\n', steps: ['hmac-sha256'] },
    'steps.0',
    'key',
  ],
  [
    'a step',
    { message: lines, steps: ['sha256', 'prepend:$method\n$path.rfc3986\n', 'hmac-sha1'] },
    'steps.1',
  ],
  [
    'the label',
    { message: lines, steps: ['hmac-sha1', 'prepend:v1='], output: 'base64' },
    'steps.1',
    'output',
  ],
  [
    'a part behind its word',
    { message: ['$method', 'Digest:$body.sha256:base64'], steps: ['hmac-md5'] },
    'message.1',
  ],
  [
    'the name of the secret',
    { message: ['$path', '&salt=', '$secret'], steps: ['md5'] },
    'message.1',
  ],
  ['a digest of the secret', { message: ['$path', '$secret.md5'], steps: ['md5'] }, 'message.1'],
  [
    'a key of bytes',
    { message: lines, steps: ['hmac-md5'], key: { tokens: ['$secret.sha256'], decode: 'hex' } },
    'key',
  ],
  ['a part of a derived key', derived, 'sub.signing.message.0', 'sub.signing.key.decode'],
  [
    'the last part, with the secret glued to it',
    {
      message: ['Appid=app-1', 'Nonce=$extra:X-Nonce', `X-Time=${'$'}{extra:X-Time}$secret`],
      join: '&',
      encode: { lower: true },
      steps: ['md5'],
    },
    'message.2',
  ],
  [
    'the query',
    { message: ['$method', '$query', '$host'], join: '\n', steps: ['hmac-md5'] },
    'message.1',
  ],
  [
    'the sorted query',
    { message: ['$path$[?$query.sorted]', '$host'], steps: ['hmac-md5'] },
    'message.0',
  ],
  [
    'a block and how it is written',
    {
      params: { encode: 'rfc3986' },
      message: ['$method', '$path?$params'],
      join: '\n',
      steps: ['hmac-md5'],
    },
    'message.1',
  ],
  [
    'a digest of the body among lines',
    { message: ['$path', '$body.sha256:base64', ''], join: '\n', steps: ['hmac-md5'] },
    'message.1',
  ],
  [
    'what is left out',
    { params: { exclude: ['c', 'a'] }, message: ['$params', '$secret'], steps: ['md5'] },
    'params.exclude',
  ],
  [
    'a digest before a constant',
    { message: ['$path', '$secret'], steps: ['sha256', 'append:###1'] },
    'steps.0',
  ],
  [
    'what is around known parameters',
    { params: { exclude: ['c'], names: false }, message: ['$params', '$secret'], steps: ['md5'] },
    'message',
  ],
  [
    'both separators',
    {
      params: { pairSep: '{up}', names: false },
      message: ['$params', '$secret'],
      join: '{up}',
      steps: ['sha256'],
    },
    'params.pairSep',
    'join',
  ],
  [
    'the message of a sub',
    {
      message: ['$param:z', '$sub:inner', '$secret'],
      sub: {
        inner: { message: [`${'$'}{param:c}${'$'}{param:b}${'$'}{param:a}`], steps: ['md5'] },
      },
      steps: ['md5'],
    },
    'sub.inner.message.0',
  ],
  [
    'an added value',
    { params: { add: { time: '$extra:X-Time' } }, message: ['$params'], steps: ['hmac-md5'] },
    'params.add.time',
  ],
  [
    'a constant that is known',
    { message: ['$params', 'v7;', '$secret'], steps: ['md5'] },
    'message.1',
  ],
  [
    'a part behind a label that a signature cannot show',
    { message: lines, join: '\n', steps: ['hmac-md5', 'prepend:K/$extra:X-Nonce/Signature='] },
    'message.0',
  ],
  [
    'a label with the day of a time',
    { message: lines, join: '\n', steps: ['hmac-md5', 'prepend:K/$extra:X-Time.date/Signature='] },
    'steps.1',
  ],
])('a recipe in which %s is open is filled in', async (what, rule, ...paths) => {
  const query = 'z=26&c=3%20d&b=2&a=1';
  const requests = ['2026-11-27T08:00:00Z', '2026-11-28T09:10:11Z'].map((time, index) => ({
    ...read,
    method: 'POST',
    query: index === 0 ? query : '',
    params: [...new URLSearchParams(query)],
    body: `{"n":${index}}`,
    extra: { 'X-Time': time, 'X-Nonce': `n-${index}` },
  }));
  const tasks = requests.map((request) => ({
    request,
    secret,
    signature: compileRecipe(rule).sign(request, secret).digest,
    otherParams: [],
  }));
  const open: Record<string, unknown> = paths.reduce((json, path) => withValueAt(json, path, '?'), {
    ...rule,
  });
  // What is said of a block is open where the entry with it is.
  const { params, ...others } = open;
  const recipe = /how it is written/.test(what) ? others : open;
  const { hit } = await findByHints(tasks, { recipe, constants: ['v7;'] }, noPause);
  const signer = hit && compileRecipe(hit.recipe);
  expect(requests.map((request) => signer?.sign(request, secret).digest)).toEqual(
    tasks.map(({ signature }) => signature),
  );
});

it.each([
  ...['md5', 'MD5', 'sha1', 'sha256', 'base64', 'upper', 'rfc3986'].map(
    (form) => `$secret.${form}`,
  ),
  ...'Digest Body Content-MD5 Content-SHA256 X-Content-SHA256'
    .split(' ')
    .map((word) => `${word}:$body`),
  ...['Request-Target:$path', 'Path:$path', 'URI:$path', 'Host:$host', 'Method:$method'],
])('an open entry may be %s', async (entry) => {
  const request = { ...read, body: '{"n":1}' };
  const key = new Secret('5up3r 53cr37');
  const { digest: signature } = compileRecipe({ message: ['v1', entry], steps: ['md5'] }).sign(
    request,
    key,
  );
  const recipe = { message: ['v1', '?'], steps: ['md5'] };
  const { hit } = await findByHints(
    [{ request, secret: key, signature, otherParams: [] }],
    { recipe },
    noPause,
  );
  expect(hit?.recipe.message).toEqual(['v1', entry]);
});

it.each<[string, object, string]>([
  [
    'a value that cannot be open',
    { message: ['$params'], steps: ['md5'], basePath: '?' },
    'basePath',
  ],
  ['an unknown token', { message: ['$parms', '?'], steps: ['md5'] }, 'message[0]'],
])('an open recipe with %s is refused', async (_, recipe, field) => {
  const task = { request: read, secret, signature: '0'.repeat(32), otherParams: [] };
  await expect(findByHints([task], { recipe }, noPause)).rejects.toMatchObject({ field });
});

it('with what a document says, a message of ten parts is found', { timeout: 120_000 }, async () => {
  const names = ['X-Auth', 'X-Nonce', 'X-Time', 'X-Version', 'X-User', 'X-Tenant', 'X-Device'];
  const extra = Object.fromEntries(names.map((name, index) => [name, `value-${index}`]));
  const request = { ...read, params: [], extra };
  const [first, ...others] = names.map((name) => `$extra:${name}`);
  const tokens = [`${first}`, '$method', '$path', ...others];
  const rule = compileRecipe(
    completeRecipe({ message: ['v2/', ...tokens], steps: ['hmac-sha256'] }),
  );
  const task = { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
  const hints = { steps: ['hmac-sha256'], join: '', headers: names, constants: ['v2/'] };
  const found = await solve([task], searchUpTo(3_000_000), noPause, hints);
  expect(rankOf(rule, secret, request, found.fits)).toBe(1);
  // Where nothing fits, the search ends by itself.
  for (const [wrong, least] of [
    [{ ...hints, steps: ['sha256'], join: '&' }, 300_000],
    [{ steps: ['md5'] }, 1],
  ] as const) {
    const nothing = await solve([task], searchUpTo(Number.POSITIVE_INFINITY), noPause, wrong);
    expect(nothing).toMatchObject({ fits: [], next: null, isComplete: true, isDivided: false });
    expect(nothing.tried).toBeGreaterThan(least);
    expect(nothing.tried).toBeLessThan(maxHinted);
    expect(nothing.bits).toBeGreaterThan(25);
  }
});

it('one request without a body or a query leaves open whether these are signed', async () => {
  const request = { ...read, params: [], extra: { 'X-Time': '1795283538' } };
  const rule = compileRecipe({
    message: ['$extra:X-Time', '$method', '$path'],
    steps: ['hmac-sha256'],
  });
  const { fits } = await solveBy(rule, secret, [request]);
  const messages = fits.map(({ recipe }) => recipe.message.join(' '));
  for (const part of ['$path$[?$query]', '$body'])
    expect(messages).toContainEqual(expect.stringContaining(part));
});

it('a header that another sample lacks is optional', async () => {
  const rule = compileRecipe({
    message: ['$method', '$[$extra:X-Type]', '$path'],
    steps: ['hmac-md5'],
  });
  const request = { ...read, params: [], extra: { 'X-Type': 'json' } };
  const { fits } = await solveBy(rule, secret, [request, { ...request, extra: {} }]);
  expect(fits[0]?.recipe.message).toEqual(['$method', '$[$extra:X-Type]', '$path']);
});

it('a search that found nothing tells how far it went with the sample for which it had time', async () => {
  const tasks = ['0', '1'].map((digit) => ({
    request: read,
    secret,
    signature: digit.repeat(128),
    otherParams: [],
  }));
  const ends = [
    { bits: 21, isComplete: false },
    { bits: 0, isComplete: false },
  ];
  const search = async () => ({
    tried: 7,
    hit: null,
    ...(ends.shift() ?? { bits: 0, isComplete: false }),
  });
  expect(await solve(tasks, search, noPause)).toMatchObject({
    fits: [],
    bits: 21,
    isComplete: false,
  });
});

describe('with what a document says, the rule is found', () => {
  const extra = { 'X-Key': 'k-0001', 'X-Type': 'json', 'X-Time': '1795283538' };
  const headers = Object.keys(extra);
  const [key, type, time] = headers.map((name) => `\${extra:${name}}`);
  const names = ['random', 'code', 'app_key', 'channel', 'timestamp'];
  const values = names.map((name) => `$param:${name}`);
  it.each<[string, Partial<RecipeJson> & { message: string[] }, Hints]>([
    [
      'of a header behind its name',
      { message: ['$method', `${key}`, `x-time:${time}`, '$path'], join: '\n' },
      { headers: ['X-Key', 'X-Time'] },
    ],
    [
      'of headers joined in their own way',
      { message: ['$method', `X-Key=${key};X-Type=${type};X-Time=${time}`], join: '\n' },
      { headers },
    ],
    [
      'of headers behind the parameters',
      { message: ['$params', `X-Key=${key}`, `X-Type=${type}`, `X-Time=${time}`], join: '&' },
      { headers },
    ],
    [
      'of a label of the signature',
      { message: values.slice(0, 2), join: '&', steps: ['hmac-sha256', 'prepend:v1='] },
      { headers: names.slice(0, 2), constants: ['v1='] },
    ],
    [
      'of fields that are reserved',
      { message: [...values.slice(0, 2), '', '', '$secret'], join: '|', steps: ['md5'] },
      { headers: names.slice(0, 2) },
    ],
    [
      'of headers that the request lacks',
      { message: ['$method', '$[$extra:X-A]', `${time}`, '$[$extra:X-B]', '$path'], join: '\n' },
      { headers: ['X-A', 'X-Time', 'X-B'] },
    ],
    [
      'of constants without a text',
      { message: ['$method', '', '$path', `${time}`], join: '-' },
      { headers: ['X-Time'], constants: [''] },
    ],
    [
      'of a label before a part',
      { message: ['a:$method', `b:${time}`], join: ';' },
      { headers: ['x-time'], constants: ['a:', 'b:'] },
    ],
    [
      'of a request line and a header behind its label, with a line break at the end',
      { message: ['$method $path', `X-Time: ${time}`, ''], join: '\n' },
      { headers: ['X-Time'], constants: ['X-Time: '] },
    ],
    [
      'of the bytes of a digest behind the path',
      {
        message: ['$param:random', '$param:code'],
        steps: ['sha256:raw', 'prepend:$path', 'hmac-sha512'],
      },
      { steps: ['sha256', 'hmac-sha512'], headers: ['random', 'code'] },
    ],
    [
      'of parameters in another order, the secret among them',
      { message: values.toSpliced(3, 0, '$secret.MD5'), join: ':', steps: ['md5'] },
      { headers: names },
    ],
    [
      'of the secret without the joiner',
      {
        message: [...values.slice(0, -1), `\${param:timestamp}$secret`],
        join: '&',
        steps: ['md5'],
      },
      { headers: names },
    ],
    [
      'of the secret under a name',
      {
        message: ['code=$param:code', 'random=$param:random', 'signKey=$secret'],
        join: '&',
        steps: ['sha1'],
      },
      { headers: ['code', 'random'] },
    ],
    [
      'of values that were sent behind each other',
      { message: ['$param:tenant_code', '$param:app_key', '$secret'], join: '~~', steps: ['sha1'] },
      {},
    ],
    [
      'of a constant that joins all parts',
      { message: [...values.toSpliced(1, 0, '$method'), '$secret'], join: '#', steps: ['md5'] },
      { join: undefined, headers: names, constants: ['#'] },
    ],
  ])('%s', async (_, { steps = ['hmac-sha256'], join, message }, hints) => {
    const request = { ...read, extra };
    const rule = compileRecipe(completeRecipe({ message, steps, ...(join && { join }) }));
    const task = { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
    const search = searchUpTo(300_000);
    let hit: RecipeCandidate | null = null;
    for (const hinted of withHints([task], { steps, join, ...hints }))
      hit ??= (await search(hinted)).hit;
    if (hit === null) throw new Error('nothing was found');
    const { fits } = await fittingRecipes({ task, hit, slack: 5, pause: noPause }, [task]);
    expect(rankOf(rule, secret, request, fits)).toBeGreaterThan(0);
  });
});
