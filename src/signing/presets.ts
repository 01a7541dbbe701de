import { completeRecipe, type Recipe, type RecipeJson, type SigningRecipes } from './recipe.js';

/**
 * A recipe in common use.
 *
 * @example
 * const names = presets.map(({ name }: Preset) => name);
 */
export interface Preset {
  readonly name: string;
  /** One line: what is signed, and how. */
  readonly description: string;
  readonly recipe: Recipe;
}

const glued = { kvSep: '', pairSep: '' } as const;
const valuesOnly = { names: false, pairSep: '' } as const;

/**
 * Used until the operator's recipes are known (§5.5, §5.6).
 *
 * @example
 * const recipes: SigningRecipes = { ...defaultRecipes, sign: { ...defaultRecipes.sign, output: 'HEX' } };
 */
export const defaultRecipes: SigningRecipes = {
  app_sign: completeRecipe({
    params: { order: ['app_key', 'random', 'timestamp'] },
    message: ['$params', '&key=', '$secret'],
    steps: ['md5'],
  }),
  sign: completeRecipe({
    params: { empty: 'drop' },
    message: ['$params', '&key=', '$secret'],
    steps: ['md5'],
  }),
};

/**
 * The rules that public platforms document most often.
 *
 * @example
 * for (const { name, description } of presets) console.log(name, description);
 */
export const presets: readonly Preset[] = [
  preset(
    'app-proof-md5',
    'MD5 of app_key=…&random=…&timestamp=…&key=SECRET. The default for app_sign.',
    defaultRecipes.app_sign,
  ),
  preset(
    'sorted-md5',
    'MD5 of k=v&… sorted by name, then &key=SECRET; empty values dropped. The default for sign.',
    defaultRecipes.sign,
  ),
  preset('wechatpay-md5', 'As sorted-md5, in upper-case hex (WeChat Pay v2 and its many copies).', {
    ...defaultRecipes.sign,
    output: 'HEX',
  }),
  preset('wechatpay-hmac-sha256', 'As wechatpay-md5, by HMAC-SHA256: the secret is the tail and the key.', {
    ...defaultRecipes.sign,
    steps: ['hmac-sha256'],
    output: 'HEX',
  }),
  preset(
    'query-suffix',
    'MD5 of k=v&… sorted by name, the secret glued on; empty values dropped (Alipay MD5, Epay).',
    { params: { empty: 'drop' }, message: ['$params', '$secret'] },
  ),
  preset(
    'kv-suffix',
    'MD5 of names and values glued together, sorted by name, then the secret (Last.fm, Yidun).',
    { params: glued, message: ['$params', '$secret'] },
  ),
  preset('kv-prefix', 'MD5 of the secret, then names and values glued together, sorted by name (Flickr).', {
    params: glued,
    message: ['$secret', '$params'],
  }),
  preset(
    'taobao',
    'Upper-case MD5 of names and values glued together, sorted by name, the secret at both ends (Taobao TOP).',
    {
      params: { ...glued, empty: 'drop' },
      message: ['$secret', '$params', '$secret'],
      output: 'HEX',
    },
  ),
  preset('taobao-hmac-md5', 'As taobao, by HMAC-MD5: the secret is the key alone.', {
    params: { ...glued, empty: 'drop' },
    message: ['$params'],
    steps: ['hmac-md5'],
    output: 'HEX',
  }),
  preset('values-suffix', 'MD5 of the values alone, in the order of their names, then the secret.', {
    params: valuesOnly,
    message: ['$params', '$secret'],
  }),
  preset(
    'form-encoded-md5',
    'As wechatpay-md5, the values form-encoded, the tail &app_key=SECRET (Tencent AI).',
    {
      params: { empty: 'drop', encode: 'form' },
      message: ['$params', '&app_key=', '$secret'],
      output: 'HEX',
    },
  ),
  preset('sent-md5', 'MD5 of k=v&… as sent, then &key=SECRET.', {
    params: { order: 'sent' },
    message: ['$params', '&key=', '$secret'],
  }),
  preset(
    'double-md5',
    'Upper-case MD5 of the upper-case MD5 of names and values glued together, then the secret.',
    {
      params: { ...glued, empty: 'drop' },
      message: ['$params'],
      steps: ['md5:HEX', 'append:$secret', 'md5'],
      output: 'HEX',
    },
  ),
  preset('query-hmac-sha256', 'HMAC-SHA256 of k=v&… sorted by name (Shopify OAuth).', {
    message: ['$params'],
    steps: ['hmac-sha256'],
  }),
  preset(
    'path-kv-hmac-sha256',
    'Upper-case HMAC-SHA256 of the path, then names and values glued together (Lazada).',
    {
      params: { ...glued, empty: 'drop' },
      message: ['$path', '$params', '$body'],
      steps: ['hmac-sha256'],
      output: 'HEX',
    },
  ),
  preset(
    'method-url-hmac-sha1',
    'HMAC-SHA1, base64, of METHOD, host, path?k=v&… sorted by name (Tencent Cloud v1).',
    {
      message: ['$method', '$host', '$path', '?', '$params'],
      steps: ['hmac-sha1'],
      output: 'base64',
    },
  ),
  preset(
    'aliyun-rpc',
    'HMAC-SHA1, base64, of METHOD&%2F& and the percent-encoded query, encoded once more; the key ends in &.',
    {
      params: { encode: 'rfc3986' },
      message: ['$method', '&%2F&', '$params'],
      encode: { block: 'rfc3986' },
      steps: ['hmac-sha1'],
      key: { tokens: ['$secret', '&'] },
      output: 'base64',
    },
  ),
  preset(
    'app-key-timestamp-md5',
    'MD5 of the app key, the timestamp and the secret, glued together (BeeCloud).',
    {
      message: ['$param:app_key', '$param:timestamp', '$secret'],
    },
  ),
  preset(
    'secret-random-timestamp-sha1',
    'SHA-1 of the secret, the random string and the timestamp, glued together (RongCloud).',
    {
      message: ['$secret', '$param:random', '$param:timestamp'],
      steps: ['sha1'],
    },
  ),
  preset(
    'sorted-values-sha1',
    'SHA-1 of the secret, the timestamp and the random string, sorted as texts and glued together (WeChat).',
    {
      params: { ...valuesOnly, include: ['timestamp', 'random'], order: 'value', add: { token: '$secret' } },
      message: ['$params'],
      steps: ['sha1'],
    },
  ),
];

export function findPreset(name: string): Preset | undefined {
  return presets.find((preset) => preset.name === name);
}

/** A preset; most are one MD5. */
function preset(
  name: string,
  description: string,
  recipe: Pick<RecipeJson, 'message'> & Partial<RecipeJson>,
): Preset {
  return { name, description, recipe: completeRecipe({ steps: ['md5'], ...recipe }) };
}
