import { expect, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { defaultRecipes, findPreset, presets } from '../../../src/core/signing/presets.js';
import { formatRecipe, parseRecipe } from '../../../src/core/signing/recipe-json.js';
import type { Param } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { vectors } from '../../support/signing-corpus.js';
import { requestOf } from '../../support/signing-requests.js';

/**
 * A documented rule that each preset states; `names` are ours for the parameters of the platform.
 */
const documented: readonly (readonly [
  preset: string,
  rule: string,
  names?: Readonly<Record<string, string>>,
])[] = [
  ['wechatpay-md5', 'wechatpay-v2-md5'],
  ['wechatpay-hmac-sha256', 'wechatpay-v2-hmac'],
  ['sorted-md5', 'chaojifu'],
  ['query-suffix', 'hmoore-defupay'],
  ['kv-suffix', 'netease-yidun'],
  ['kv-prefix', 'flickr-legacy'],
  ['taobao', 'taobao-top-md5'],
  ['taobao-hmac-md5', 'taobao-top-hmac-md5'],
  ['values-suffix', 'boxes-values-only'],
  ['form-encoded-md5', 'tencent-ai'],
  ['double-md5', 'double-md5-upper'],
  ['query-hmac-sha256', 'shopify-oauth'],
  ['path-kv-hmac-sha256', 'lazada-iop'],
  ['method-url-hmac-sha1', 'tencentcloud-v1'],
  ['aliyun-rpc', 'aliyun-rpc'],
  ['sent-md5', 'jiguang-im'],
  ['app-key-timestamp-md5', 'beecloud-app-sign', { app_id: 'app_key' }],
  ['secret-random-timestamp-sha1', 'rongcloud', { Nonce: 'random', Timestamp: 'timestamp' }],
];

const rules = documented.map(([preset, rule, names = {}]) => [preset, rule, names] as const);

test.each(rules)('%s is the rule of %s', (name, platform, names) => {
  const vector = vectors.find((one) => one.name === platform);
  const recipe = findPreset(name)?.recipe;
  if (vector === undefined || recipe === undefined) throw new Error('no such vector or preset');
  const params = vector.request.params.map(
    ([param, value]): Param => [names[param] ?? param, value],
  );
  const { digest } = compileRecipe(recipe).sign(
    { ...vector.request, params },
    new Secret(vector.secret),
  );
  expect(digest).toBe(vector.digest);
});

/** Rules without a published example: digests by Python's hashlib of the text beside them. */
const computed = [
  [
    'app-proof-md5',
    'app_key=k1&random=Zq7&timestamp=1409304348&key=5up3r',
    '797815663ded71c7d1a9c560f9feff6c',
  ],
  ['sorted-values-sha1', '14093043485up3rZq7', '0c6335f186e68cd2dd58a0db1f04401051166ab0'],
] as const;

test.each(computed)('%s signs %s', (name, message, digest) => {
  const recipe = findPreset(name)?.recipe;
  if (recipe === undefined) throw new Error('no such preset');
  const request = requestOf([
    ['timestamp', '1409304348'],
    ['app_key', 'k1'],
    ['code', 'c 1'],
    ['random', 'Zq7'],
  ]);
  expect(compileRecipe(recipe).sign(request, new Secret('5up3r'))).toMatchObject({
    message,
    digest,
  });
});

test('every preset has an example', () => {
  const known = [...documented, ...computed].map(([name]) => name);
  expect(known.sort()).toEqual(presets.map(({ name }) => name).sort());
});

test('every preset is a sound recipe under a name of its own', () => {
  expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length);
  for (const { recipe } of presets) expect(parseRecipe(formatRecipe(recipe))).toEqual(recipe);
});

test('the two defaults are among the presets', () => {
  const recipes = presets.map(({ recipe }) => recipe);
  expect(recipes).toEqual(expect.arrayContaining([defaultRecipes.app_sign, defaultRecipes.sign]));
});
