// What a search by asking tries: each rule takes a request, so these are fewer choices than those
// of a search by a captured request, and only what the request of the search tells apart. It has no
// empty value, no value that is encoded, no form, and its parameters are sorted.

import { signLength } from '../../core/contract/limits.js';
import type { SignatureName } from '../../core/signing/app-signatures.js';
import { compileRecipe } from '../../core/signing/compile-recipe.js';
import { presets } from '../../core/signing/presets.js';
import {
  completeRecipe,
  type ParamsRule,
  type RecipeJson,
  unlessRefused,
} from '../../core/signing/recipe.js';
import type { SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import { contractNames } from '../parameter-names.js';
import { byBits, type Choice, choices, type Rated } from '../rule-parts/rarity.js';
import type { Candidate } from './candidates.js';

/** A part of a recipe, to merge with others. */
type Part = Partial<Omit<RecipeJson, 'params'>> & { readonly params?: Partial<ParamsRule> };

/** Whether `sign` covers `app_sign`. */
const exclusionsOfAppSign = choices<readonly string[]>([0.7, []], [1.3, ['app_sign']]);

/** Parameters that a rule leaves out. */
const exclusions = choices<readonly string[]>(
  [0.2, []],
  [4, ['app_key']],
  [5, ['channel'], ['tenant_code', 'channel']],
  [5.5, ['code'], ['timestamp'], ['random']],
);

/** The names of the contract from the last to the first: a fixed order. */
const reversed = [...contractNames].sort().reverse();

const orders = choices<ParamsRule['order']>([0.2, 'name'], [3.8, 'value'], [4, reversed]);

interface Writing {
  readonly names: boolean;
  readonly kvSep: string;
  readonly pairSep: string;
}

function pairs(kvSep: string, pairSep: string): Writing {
  return { names: true, kvSep, pairSep };
}

function values(pairSep: string): Writing {
  return { names: false, kvSep: '=', pairSep };
}

const writings = choices<Writing>(
  [0.8, pairs('=', '&')],
  [2.8, pairs('', '')],
  [2.9, values('')],
  [4.6, pairs('=', '')],
  [5, values('&'), values(','), values('|')],
  [5.5, pairs('=', ','), pairs('=', '|'), pairs(':', '&')],
);

/** How the secret enters the text. */
interface SecretPlace {
  /** The part of the rule, with the token of the secret or of its digest. */
  readonly partWith: (secret: string) => Part & Pick<RecipeJson, 'message'>;
  /** Whether it is a pair of the writing `k=v&`. */
  readonly isPair?: true;
}

function lastPair(name: string): SecretPlace {
  return { partWith: (secret) => ({ message: ['$params', `&${name}=`, secret] }), isPair: true };
}

function addedParameter(name: string): SecretPlace {
  return {
    partWith: (secret) => ({ message: ['$params'], params: { add: { [name]: secret } } }),
  };
}

const secretPlaces = choices<SecretPlace>(
  [1.9, lastPair('key')],
  [2.1, { partWith: (secret) => ({ message: ['$params', secret] }) }],
  [2.3, { partWith: (secret) => ({ message: ['$params'], key: { tokens: [secret] } }) }],
  [2.9, { partWith: (secret) => ({ message: [secret, '$params', secret] }) }],
  [3.3, { partWith: (secret) => ({ message: [secret, '$params'] }) }],
  [3.6, lastPair('secret'), lastPair('app_secret')],
  [6, addedParameter('secret'), addedParameter('app_secret'), addedParameter('key')],
);

const secrets = choices<string>([0.1, '$secret'], [4, '$secret.md5']);

/** What stands before the parameters. */
const fronts = choices<readonly string[]>(
  [0.2, []],
  [4.5, ['$endpoint'], ['$path']],
  [5, ['$method', '&', '$path', '&'], ['$method', '$path']],
  [5.5, ['$method'], ['$method', '&', '$endpoint', '&']],
);

/** The steps from the text to the signature, and how it is written. */
type Digest = Part & { readonly steps: readonly string[] };

/** Digests of 32 characters (§5.4), by steps and output. */
const digestsOfSign = choices<Digest>(
  [1.3, { steps: ['md5'] }],
  [1.8, { steps: ['md5'], output: 'HEX' }],
  [3.6, { steps: ['sha256', 'slice:0:32'] }],
  [4.6, { steps: ['sha1', 'slice:0:32'] }],
  [
    5,
    { steps: ['sha256', 'slice:0:32'], output: 'HEX' },
    { steps: ['sha256', 'slice:0:32'], output: 'base64' },
  ],
  [6, { steps: ['sha1', 'slice:0:32'], output: 'HEX' }, { steps: ['sha512', 'slice:0:32'] }],
  [6.5, { steps: ['sha256', 'slice:16:48'] }, { steps: ['sha256', 'slice:8:40'] }],
  [
    7,
    { steps: ['sha1', 'slice:8:40'] },
    { steps: ['sha1', 'slice:4:36'] },
    { steps: ['sha256', 'slice:32:64'] },
  ],
  [
    7.5,
    { steps: ['sha512', 'slice:0:32'], output: 'HEX' },
    { steps: ['sha512', 'slice:0:32'], output: 'base64' },
  ],
);

/** Digests of `app_sign`, which may have any length. */
const digestsOfAppSign = choices<Digest>(
  [1.3, { steps: ['md5'] }],
  [2.4, { steps: ['md5'], output: 'HEX' }],
  [2.4, { steps: ['sha256'] }],
  [3.6, { steps: ['sha1'] }],
  [4.2, { steps: ['sha256'], output: 'HEX' }],
  [5, { steps: ['sha1'], output: 'HEX' }, { steps: ['sha256'], output: 'base64' }],
  [
    6,
    { steps: ['sha256', 'slice:0:32'] },
    { steps: ['sha1'], output: 'base64' },
    { steps: ['md5'], output: 'base64' },
  ],
);

/** The parameters of `app_sign`, where it does not cover all of them. */
const lists = choices<readonly string[]>(
  [1.5, ['app_key', 'timestamp']],
  [1.9, ['app_key', 'random', 'timestamp']],
  [2.6, ['app_key', 'timestamp', 'random']],
  [3.8, ['app_key', 'random'], ['app_key']],
  [
    5,
    ['timestamp', 'app_key'],
    ['random', 'timestamp', 'app_key'],
    ['random', 'app_key', 'timestamp'],
  ],
  [
    5.5,
    ['timestamp', 'random', 'app_key'],
    ['timestamp', 'app_key', 'random'],
    ['random', 'app_key'],
  ],
  [6, ['app_key', 'timestamp', 'tenant_code'], ['tenant_code', 'app_key', 'timestamp']],
  [6, ['app_key', 'tenant_code', 'timestamp'], ['app_key', 'channel', 'timestamp']],
  [
    6,
    ['app_key', 'random', 'timestamp', 'tenant_code'],
    ['tenant_code', 'app_key', 'random', 'timestamp'],
  ],
  [6.5, ['app_key', 'random', 'tenant_code', 'timestamp'], ['app_key', 'tenant_code']],
  [
    7,
    ['app_key', 'tenant_code', 'channel', 'timestamp'],
    ['app_key', 'timestamp', 'tenant_code', 'channel'],
  ],
  [
    7,
    ['app_key', 'random', 'timestamp', 'tenant_code', 'channel'],
    ['app_key', 'tenant_code', 'channel'],
  ],
  [7, ['app_key', 'channel', 'random', 'timestamp'], ['app_key', 'random', 'timestamp', 'channel']],
);

const listJoiners = choices<string>(
  [0.9, ''],
  [3.6, '&'],
  [4.6, ',', '|', ':', '-'],
  [5.5, '_', '\n'],
);

type ListPlace = 'last' | 'first' | 'second' | 'both' | 'key';
const listPlaces = choices<ListPlace>(
  [1.1, 'last'],
  [2.2, 'key'],
  [2.7, 'first', 'second'],
  [4.5, 'both'],
);

/** Names of the secret after pairs. */
const pairNames = choices<string>(
  [1, 'key'],
  [1.7, 'app_secret'],
  [2.3, 'secret'],
  [4, 'appSecret', 'appsecret'],
);

/**
 * How much rarer than a list a rule over all parameters is, and a list of pairs than one of values.
 */
const bitsOfAll = 2.6;
const bitsOfPairs = 2;
/** How much rarer it is that the secret is the key for a list of pairs, than a pair of them. */
const bitsOfPairKey = 2.2;

/** The same of the secret without a name, after or before the pairs. */
const bitsOfBareSecret = { after: 1.3, before: 3 } as const;

/** A rule before it is compiled. */
interface RatedRule extends Rated {
  readonly json: RecipeJson;
}

/** Rules are made in bands, up to so many bits: most searches end in the first. */
const bands = [11, 13, 16] as const;

/** The bits of the presets: most of these are usual rules, too. */
const presetBits = 10;

/**
 * The rules of a signature that give this request different signatures, the most usual first.
 *
 * @param request whose parameters are sorted by their names
 */
export function* usualRules(
  signature: SignatureName,
  request: SignableRequest,
  secret: Secret,
): Generator<Candidate> {
  const seen = new Set<string>();
  const candidateOf = ({ json, bits }: RatedRule): Candidate | null => {
    const recipe = completeRecipe(json);
    const signer = compileRecipe(recipe);
    const digest = unlessRefused(() => signer.sign(request, secret).digest);
    if (digest === null || seen.has(digest)) return null;
    if (signature === 'sign' && digest.length !== signLength) return null;
    seen.add(digest);
    return { recipe, signer, weight: 2 ** -bits };
  };
  const ownPresets = presets.map(({ recipe }) => ({ json: recipe, bits: presetBits }));
  let least = Number.NEGATIVE_INFINITY;
  for (const most of bands) {
    const rules =
      signature === 'sign' ? rulesOverAll(exclusionsOfAppSign, most) : rulesOfAppSign(most);
    const band = [...rules, ...ownPresets].filter(({ bits }) => bits > least && bits <= most);
    for (const rule of byBits(band)) {
      const candidate = candidateOf(rule);
      if (candidate !== null) yield candidate;
    }
    least = most;
  }
}

/** The parameters of a request, but for some, as rules write them, up to so many bits. */
function* paramsRules(
  ofAppSign: readonly Choice<readonly string[]>[],
  most: number,
): Generator<Choice<Partial<ParamsRule>>> {
  for (const appSign of ofAppSign)
    for (const excluded of exclusions)
      for (const order of orders)
        for (const writing of writings) {
          const bits = appSign.bits + excluded.bits + order.bits + writing.bits;
          if (bits > most) break;
          const exclude = [...appSign.value, ...excluded.value];
          yield { value: { exclude, order: order.value, ...writing.value }, bits };
        }
}

/** Rules over the parameters of a request, but for some, up to so many bits. */
function* rulesOverAll(
  ofAppSign: readonly Choice<readonly string[]>[],
  most: number,
): Generator<RatedRule> {
  for (const { value: params, bits: paramsBits } of paramsRules(ofAppSign, most))
    for (const secretPlace of secretPlaces) {
      if (secretPlace.value.isPair && params.pairSep !== '&') continue;
      for (const secret of secrets)
        for (const front of fronts)
          for (const digest of digestsOfSign) {
            const bits = paramsBits + secretPlace.bits + secret.bits + front.bits + digest.bits;
            if (bits > most) break;
            const json = overAll(params, secretPlace.value, secret.value, digest.value);
            yield { json: { ...json, message: withFront(json.message, front.value) }, bits };
          }
    }
}

function overAll(
  params: Partial<ParamsRule>,
  { partWith }: SecretPlace,
  secret: string,
  digest: Digest,
): RecipeJson {
  const part = partWith(secret);
  const [addedName] = Object.keys(part.params?.add ?? {});
  const isFixed = typeof params.order === 'object' && addedName !== undefined;
  return {
    ...part,
    params: {
      ...params,
      ...(isFixed && { order: [...contractNames, addedName].sort().reverse() }),
      ...part.params,
    },
    ...digest,
    ...(part.key && { steps: asHmac(digest.steps) }),
  };
}

/** A message with a front before its parameters. */
function withFront(message: RecipeJson['message'], front: readonly string[]): string[] {
  return message.flatMap((entry) => (entry === '$params' ? [...front, entry] : [entry]));
}

function asHmac([digest = '', ...others]: readonly string[]): string[] {
  return [`hmac-${digest}`, ...others];
}

/** Rules over all parameters, and over short lists of them, up to so many bits. */
function* rulesOfAppSign(most: number): Generator<RatedRule> {
  for (const { json, bits } of rulesOverAll([{ value: [], bits: 0 }], most - bitsOfAll))
    yield { json, bits: bits + bitsOfAll };
  for (const list of lists)
    for (const digest of digestsOfAppSign) {
      const bits = list.bits + digest.bits;
      if (bits > most) break;
      yield* rulesOverValues(list.value, digest.value, bits, most);
      yield* rulesOverPairs(list.value, digest.value, bits);
    }
}

/** Rules over the values of parameters in this order. `bits` are those of the list and digest. */
function* rulesOverValues(
  names: readonly string[],
  digest: Digest,
  bits: number,
  most: number,
): Generator<RatedRule> {
  for (const listPlace of listPlaces)
    for (const joiner of listJoiners) {
      const ruleBits = bits + listPlace.bits + joiner.bits;
      if (ruleBits > most) break;
      yield { json: overList(names, listPlace.value, joiner.value, digest), bits: ruleBits };
    }
}

/** Rules over names and values in this order. `bits` are those of the list and digest. */
function* rulesOverPairs(
  names: readonly string[],
  digest: Digest,
  bits: number,
): Generator<RatedRule> {
  const pairsOfList = names.map((name) => `${name}=$param:${name}`);
  const text = pairsOfList.flatMap((pair, index) => (index === 0 ? [pair] : ['&', pair]));
  yield {
    json: { message: [...text, '$secret'], ...digest },
    bits: bits + bitsOfPairs + bitsOfBareSecret.after,
  };
  yield {
    json: { message: ['$secret', ...text], ...digest },
    bits: bits + bitsOfPairs + bitsOfBareSecret.before,
  };
  const joined = { join: '&', ...digest };
  for (const { value: name, bits: nameBits } of pairNames)
    yield {
      json: { ...joined, message: [...pairsOfList, `${name}=$secret`] },
      bits: bits + bitsOfPairs + nameBits,
    };
  yield {
    json: { ...joined, message: pairsOfList, steps: asHmac(digest.steps) },
    bits: bits + bitsOfPairs + bitsOfPairKey,
  };
}

/** Values of parameters in this order, with the secret among them or as the key. */
function overList(
  names: readonly string[],
  place: ListPlace,
  join: string,
  digest: Digest,
): RecipeJson {
  const tokens = names.map((name) => `$param:${name}`);
  const [first = '', ...others] = tokens;
  const messages = {
    last: [...tokens, '$secret'],
    first: ['$secret', ...tokens],
    second: [first, '$secret', ...others],
    both: ['$secret', ...tokens, '$secret'],
    key: tokens,
  };
  const steps = place === 'key' ? asHmac(digest.steps) : digest.steps;
  return { message: messages[place], join, ...digest, steps };
}
