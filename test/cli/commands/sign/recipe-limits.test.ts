import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SignableRequest } from '../../../../src/core/signing/request.js';
import { Secret } from '../../../../src/core/signing/secret.js';
import {
  compileRecipe,
  defaultRecipes,
  type RecipeJson,
  UserInfoClient,
} from '../../../../src/index.js';
import { createService } from '../../../../src/service/index.js';
import { deploymentFlags, Machine } from '../../../support/cli.js';

const machine = new Machine();
const env = { SHOP_SECRET: 's', USERINFO_APP_SECRET: 's' };
const url = 'http://example.com/x?a=1&sign=00112233445566778899aabbccddeeff';
const right: RecipeJson = { message: ['$params', '$secret'], steps: ['md5'] };

beforeAll(async () => {
  const options = deploymentFlags('http://127.0.0.1:9');
  const added = await machine.run(
    ['profile', 'add', 'shop', ...options, '--app-secret-env', 'SHOP_SECRET'],
    { env },
  );
  expect(added).toMatchObject({ status: 0 });
});
afterAll(() => machine[Symbol.dispose]());

const many = (count: number, entry = 'x') => Array.from({ length: count }, () => entry);
const names = (count: number) =>
  Object.fromEntries(many(count).map((_, index) => [`n${index}`, 'v']));

/** Each list of a recipe with one more than it may have, and each other limit. */
const tooMuch: Readonly<Record<string, [Partial<RecipeJson>, RegExp]>> = {
  message: [{ message: many(65) }, /message: has more than 64 entries/],
  steps: [{ steps: many(65, 'md5') }, /steps: has more than 64 entries/],
  'key.tokens': [{ key: { tokens: many(65) } }, /key\.tokens: has more than 64 entries/],
  'params.exclude': [
    { params: { exclude: many(257) } },
    /params\.exclude: has more than 256 names/,
  ],
  'params.include': [
    { params: { include: many(257) } },
    /params\.include: has more than 256 names/,
  ],
  'params.order': [{ params: { order: many(257) } }, /params\.order: has more than 256 names/],
  'params.add': [{ params: { add: names(257) } }, /params\.add: has more than 256 names/],
  tokens: [{ message: ['$method'.repeat(65)] }, /message: has more than 64 tokens/],
  modifiers: [
    { message: [`$body${'.base64'.repeat(9)}`] },
    /message\[0\]: has more than 8 modifiers/,
  ],
  characters: [{ message: ['x'.repeat(8192)] }, /has more than 8192 characters/],
  '20,000 steps': [{ steps: many(20_000, 'md5') }, /has more than 8192 characters/],
  nesting: [
    { message: JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) },
    /message\[0\]: must be a text|has more than 8192 characters/,
  ],
};

const file = (content: unknown) => machine.file('given.json', content);

async function refusal(args: readonly string[]): Promise<string> {
  const { status, stderr } = await machine.run(args, { env });
  return `${status} ${stderr.replaceAll(/\s+/g, ' ')}`;
}

function thrown(call: () => unknown): string {
  try {
    call();
    return 'taken';
  } catch (error) {
    return `2 ${(error as Error).message}`;
  }
}

/** Where a recipe comes from, and what is said of it there. */
const places: Readonly<Record<string, (recipe: RecipeJson) => string | Promise<string>>> = {
  'the platform of a client': (recipe) =>
    thrown(
      () =>
        new UserInfoClient({
          tenantCode: 'acme',
          channel: 'web',
          appKey: 'a',
          appSecret: 's',
          baseUrl: 'http://127.0.0.1:9',
          platform: { signing: { sign: recipe } },
        }),
    ),
  'a recipe file, sign explain': (recipe) =>
    refusal(['sign', 'explain', '--recipe', file(recipe), url]),
  'a pair of recipes': (recipe) =>
    refusal(['sign', 'explain', '--recipe', file({ ...defaultRecipes, sign: recipe }), url]),
  'a report of sign solve': (recipe) =>
    refusal([
      ...'sign export --lang php --recipe'.split(' '),
      file({ signing: { sign: recipe }, groups: {} }),
    ]),
  'a platform file': (recipe) =>
    refusal(['profile', 'set', 'shop', '--platform', file({ signing: { sign: recipe } })]),
  'the platform of a service': (recipe) =>
    Promise.resolve()
      .then(() => createService({ platform: { signing: { sign: recipe } } }))
      .then(
        (service) => service.close().then(() => 'taken'),
        (error: Error) => `2 ${error.message}`,
      ),
  'recipes of an app': (recipe) => {
    const app = [
      ...'--tenant-code t --channel c --platform'.split(' '),
      file({ signing: { sign: recipe } }),
    ];
    return refusal(['admin', 'app', 'create', ...app]);
  },
  'a profile': async (recipe) => {
    const before = readFileSync(machine.profileFile, 'utf8');
    const stored = JSON.parse(before);
    stored.profiles.shop.platform = { signing: { sign: recipe } };
    writeFileSync(machine.profileFile, JSON.stringify(stored));
    const said = await refusal(['read', '-p', 'shop', 'c1', '--dry-run']);
    writeFileSync(machine.profileFile, before);
    return said;
  },
};

it.each(Object.entries(tooMuch))('a recipe with too much is refused: %s', (_, [change, words]) => {
  expect(() => compileRecipe({ ...right, ...change })).toThrow(words);
});

it.each(Object.entries(places))('a recipe with too much is refused in %s', async (_, say) => {
  const said = await say({ ...right, message: many(65) });
  expect(said).toMatch(/^[23] .*message: has more than 64 entries/);
});

it('a recipe with as much as it may have is taken', () => {
  const full = {
    message: [...many(63, '$method'), '$secret'],
    steps: many(64, 'md5'),
    params: { exclude: many(256), order: 'name' },
  } as const;
  expect(compileRecipe(full).digestLength).toBe(32);
});

const added = { add: { x: '$body'.repeat(40) } };
const multiplying: Readonly<Record<string, Partial<RecipeJson>>> = {
  'a block of pairs': { message: many(60, '$params') },
  'an encoded block': { params: added, message: ['$params.base64.base64'] },
  'a value of its own': { params: { add: { x: '$body'.repeat(60) } } },
  modifiers: { message: many(60, '$body.base64.base64.base64.base64') },
  'a key': { key: { tokens: many(60, '$body') }, steps: ['hmac-sha256'] },
};

/** A request with a body and a parameter of so many characters. */
function requestOf(size: number): SignableRequest {
  const text = 'a'.repeat(size);
  return {
    method: 'PUT',
    url: 'http://a/b',
    query: '',
    params: [['a', text]],
    body: text,
  };
}

it.each([
  ['a body', { message: ['$body.form'] }],
  ['a parameter', { message: ['$params.rfc3986', '$secret'] }],
] as const)('a request of 9 MB is signed and explained: %s', (_, recipe) => {
  const signer = compileRecipe({ ...right, ...recipe });
  const [request, secret] = [requestOf(9_000_000), new Secret('s')];
  expect(signer.explain?.(request, secret).digest).toBe(signer.sign(request, secret).digest);
});

it.each(Object.entries(multiplying))(
  'a request that a recipe makes too long is refused: %s',
  (_, change) => {
    const signer = compileRecipe({ ...right, ...change });
    const [request, secret] = [requestOf(100_000), new Secret('s')];
    for (const sign of [
      () => signer.sign(request, secret),
      () => signer.explain?.(request, secret),
    ])
      expect(sign).toThrow(/message: makes too long a text of this request/);
  },
);
