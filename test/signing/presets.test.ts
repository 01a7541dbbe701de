import { expect, test } from 'vitest';
import { compileRecipe } from '../../src/signing/compile-recipe.js';
import { defaultRecipes, findPreset, presets } from '../../src/signing/presets.js';
import { formatRecipe, parseRecipe } from '../../src/signing/recipe-json.js';
import { Secret } from '../../src/signing/secret.js';
import { vectors } from '../support/signing-corpus.js';

test.each([
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
])('%s is the rule of %s', (name, platform) => {
  const vector = vectors.find((one) => one.name === platform);
  const recipe = findPreset(name)?.recipe;
  if (vector === undefined || recipe === undefined) throw new Error('no such vector or preset');
  expect(compileRecipe(recipe).sign(vector.request, new Secret(vector.secret)).digest).toBe(vector.digest);
});

test('every preset is a sound recipe under a name of its own', () => {
  expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length);
  for (const { recipe } of presets) expect(parseRecipe(formatRecipe(recipe))).toEqual(recipe);
});

test('the two defaults are among the presets', () => {
  const recipes = presets.map(({ recipe }) => recipe);
  expect(recipes).toEqual(expect.arrayContaining([defaultRecipes.app_sign, defaultRecipes.sign]));
});
