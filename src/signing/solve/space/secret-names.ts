import type { Param } from '../../request.js';
import { type Choice, choice, distinctBy } from './choice.js';

/** Names that a secret goes by in a message, the likeliest first. */
const common: readonly (readonly [bits: number, names: string])[] = [
  [0.8, 'key'],
  [3, 'secret appSecret app_secret appsecret'],
  [4, 'appkey app_key appKey secretKey secret_key secretkey'],
  [5, 'AppSecret AppKey signKey sign_key signkey token apiKey api_key apikey KEY Key SECRET Secret'],
  [
    6,
    'apiSecret api_secret apisecret client_secret clientSecret partnerKey partner_key merchantKey merchant_key mch_key md5key md5Key sk',
  ],
  [
    6.5,
    'APPSECRET APP_SECRET APPKEY APP_KEY accessKey access_key accessKeySecret access_secret accessSecret authKey auth_key password passwd pwd payKey pay_key paykey private_key privateKey salt',
  ],
  [
    7,
    'SecretKey MD5Key SignKey HashKey HashIV skey jsapi_ticket ticket securityKey security_key safecode consumer_secret shared_secret sign_secret signSecret app_token appToken access_token TOKEN Token SK ak paternerKey partner_secret partnerSecret merchant_secret merchantSecret mchKey mch_secret verify_key hash_key',
  ],
];

/**
 * What the secret may be called in the message: the common names, and those that the request's own naming suggests
 * (`mch_id` goes with `mch_key` and `mch_secret`).
 */
export function secretNames(params: readonly Param[]): Choice<string>[] {
  const known = common.flatMap(([bits, names]) => names.split(' ').map((name) => choice(name, bits)));
  return distinctBy([...known, ...params.flatMap(([name]) => relatedNames(name))], ({ value }) => value);
}

const identifier = /^(.+?)([_-]?)(id|key|no|code)$/i;

function relatedNames(name: string): Choice<string>[] {
  const [, stem, separator = '', tail = ''] = identifier.exec(name) ?? [];
  if (stem === undefined) return [];
  return ['key', 'secret', 'token'].flatMap((word, rank) => [
    choice(stem + separator + sameCase(word, tail), 3 + rank),
    choice(stem + separator + capitalized(word), 4.5 + rank),
  ]);
}

/** `word` written as `model` is: lower-case, upper-case or capitalized. */
function sameCase(word: string, model: string): string {
  if (model === model.toLowerCase()) return word;
  return model === model.toUpperCase() ? word.toUpperCase() : capitalized(word);
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
