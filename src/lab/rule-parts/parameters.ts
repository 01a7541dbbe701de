import type { SignatureName } from '../../core/signing/app-signatures.js';
import type { TextEncoding } from '../../core/signing/encodings.js';
import type { ParamsRule, ParamsSource } from '../../core/signing/recipe.js';
import { memoize } from '../../core/support/memoize.js';
import { commonNames, contractNames } from '../parameter-names.js';
import { byBits, type Choice, choices, type Rated } from './rarity.js';

/**
 * Which parameters are signed and in which order: by place and role, never by the names that a
 * sample happens to have.
 */
export interface Arrangement extends Rated {
  readonly rule: Pick<
    Partial<ParamsRule>,
    'from' | 'exclude' | 'include' | 'empty' | 'nameCase' | 'order' | 'add'
  >;
  /** Whether the secret is one of the values. */
  readonly hasSecret: boolean;
  /** Whether it is a short list of names, which is written as values more often than as pairs. */
  readonly isList: boolean;
}

/** How names and values are joined. */
export interface Writing extends Rated {
  readonly rule: Pick<ParamsRule, 'names' | 'kvSep' | 'pairSep'>;
}

/** How names and values are encoded. */
export interface Encoding extends Rated {
  readonly rule: Pick<ParamsRule, 'encode'>;
}

export const sources = choices<ParamsSource>(
  [0.9, 'both'],
  [1.2, 'query'],
  [9, 'form-or-query', 'form'],
);

export const empties = choices<ParamsRule['empty']>([0.8, 'keep'], [1, 'drop']);

const nameCases = choices<ParamsRule['nameCase']>([0, 'none'], [10, 'upper']);

/** Names under which the secret is signed. */
export const secretNames = choices<string>(
  [0.8, 'key'],
  [1.4, 'secret', 'app_secret'],
  [2.2, 'appSecret', 'secret_key', 'secretKey', 'appsecret'],
  [
    6,
    'token',
    'app_key',
    'appkey',
    'AppSecret',
    'secretkey',
    'sign_key',
    'signKey',
    'api_key',
    'apiKey',
  ],
  [
    8,
    'client_secret',
    'appKey',
    'sk',
    'salt',
    'KEY',
    'SECRET',
    'APP_SECRET',
    'Key',
    'Secret',
    'private_key',
  ],
  [
    9,
    'access_key',
    'accessKey',
    'secret_code',
    'app_secret_key',
    'password',
    'pwd',
    'md5key',
    'sign_secret',
    'k',
    's',
  ],
);

/** The secret as one of the parameters. */
interface AddedSecret extends Rated {
  readonly name: string;
  readonly form: string;
}

const addedForms = choices<string>([2, '$secret'], [4.6, '$secret.md5']);

const addedSecrets: readonly AddedSecret[] = byBits(
  addedForms.flatMap((form) =>
    secretNames.map((name) => ({
      name: name.value,
      form: form.value,
      bits: form.bits + name.bits,
    })),
  ),
);

interface Roles extends Rated {
  readonly rule: Pick<Partial<ParamsRule>, 'exclude' | 'include'>;
}

/**
 * Names that are left out or taken by their role. `app_sign` is one of the parameters that `sign`
 * may cover.
 */
function rolesFor(signature: SignatureName): Roles[] {
  const allBut = (bits: number, ...exclude: string[]): Roles => ({ rule: { exclude }, bits });
  const common = signature === 'sign' ? [...commonNames, 'app_sign'] : [...commonNames];
  const exclusionsOfAppSign = signature === 'sign' ? [[], ['app_sign']] : [[]];
  const single = 5;
  const namePairs = commonNames.flatMap((name, index) =>
    commonNames.slice(index + 1).map((second) => [name, second]),
  );
  return exclusionsOfAppSign.flatMap((without) => [
    allBut(signature === 'sign' ? 1 : 0.4, ...without),
    {
      rule: { include: common.filter((name) => !without.includes(name)) },
      bits: signature === 'sign' ? 4.5 : 1.5,
    },
    ...commonNames.map((name) => allBut(single, ...without, name)),
    ...namePairs.map((names) => allBut(single + 3, ...without, ...names)),
    allBut(5, ...without, 'user_info'),
    allBut(5, ...without, 'code'),
    allBut(8.5, ...without, ...commonNames),
  ]);
}

export const usualOrders = choices<ParamsRule['order']>(
  [0.4, 'name'],
  [1.8, 'sent'],
  [2.2, 'value'],
  [2.4, 'name-desc'],
  [2.8, contractNames],
);

/** Longest list of names: with more, a rule is by place and role. */
const longestList = 5;

/**
 * The short lists of common names that `app_sign` is often made of, with the secret between two of
 * them or nowhere: at the ends, it is part of the layout.
 */
function listsOf(names: readonly string[]): Arrangement[] {
  const lists: Arrangement[] = [];
  const add = (order: readonly string[], bits: number) => {
    lists.push({ rule: { order }, bits, hasSecret: false, isList: true });
    for (let index = 1; index < order.length; index++) {
      const withSecret = order.toSpliced(index, 0, 'secret');
      lists.push({
        rule: { order: withSecret, add: { secret: '$secret' } },
        bits: bits + 3.5,
        hasSecret: true,
        isList: true,
      });
    }
  };
  const extend = (order: readonly string[]) => {
    if (order.length > 0) add(order, listBits(order));
    if (order.length === longestList) return;
    for (const name of names) if (!order.includes(name)) extend([...order, name]);
  };
  extend([]);
  return lists;
}

/**
 * Most lists hold the app key and the timestamp, in the order of the document or of their names.
 */
function listBits(order: readonly string[]): number {
  const missing = ['app_key', 'timestamp', 'random'].filter((name) => !order.includes(name)).length;
  const rare = ['tenant_code', 'channel'].filter((name) => order.includes(name)).length;
  const isSorted = order.every((name, index) => index === 0 || (order[index - 1] ?? '') < name);
  const places = order.map((name) => contractNames.indexOf(name));
  const isAsListed = places.every(
    (place, index) => index === 0 || (places[index - 1] ?? 0) < place,
  );
  return 2.5 + missing + 0.8 * rare + (isSorted || isAsListed ? 0 : 2.5);
}

/** Bits beyond which an arrangement is not tried. */
const maxBits = 13;

/** Every usual choice and order of the parameters that a signature covers, the most usual first. */
export const arrangementsFor = memoize((signature: SignatureName): readonly Arrangement[] => {
  const lists = listsOf(commonNames).map((list) =>
    signature === 'app_sign' ? list : { ...list, bits: list.bits + bitsOfListInSign },
  );
  const usualLists = lists.filter(({ bits }) => bits <= maxBits);
  return byBits([...orderedSelections(signature), ...usualLists]);
});

/** Short lists of names are made for `app_sign`. */
const bitsOfListInSign = 6;

/** Every selection in every order, with the secret among the parameters or without. */
function* orderedSelections(signature: SignatureName): Generator<Arrangement> {
  const secrets: (AddedSecret | null)[] = [null, ...addedSecrets];
  for (const selection of selectionsFor(signature))
    for (const order of usualOrders)
      for (const secret of secrets) {
        const bits = selection.bits + order.bits + (secret?.bits ?? 0);
        if (bits > maxBits) continue;
        const rule = { ...selection.value, order: orderWith(order.value, secret) };
        const add = secret === null ? {} : { add: { [secret.name]: secret.form } };
        yield { rule: { ...rule, ...add }, bits, hasSecret: secret !== null, isList: false };
      }
}

/** Which parameters are signed, by their places and roles, and how their names are written. */
function* selectionsFor(signature: SignatureName): Generator<Choice<Arrangement['rule']>> {
  for (const from of sources)
    for (const roles of rolesFor(signature))
      for (const empty of empties)
        for (const nameCase of nameCases) {
          const bits = from.bits + roles.bits + empty.bits + nameCase.bits;
          const names = { empty: empty.value, nameCase: nameCase.value };
          yield { value: { from: from.value, ...roles.rule, ...names }, bits };
        }
}

/** The secret stands after the parameters of a fixed order. */
function orderWith(order: ParamsRule['order'], secret: AddedSecret | null): ParamsRule['order'] {
  if (typeof order === 'string' || secret === null) return order;
  return [...order, secret.name];
}

function pairs(bits: number, kvSep: string, pairSep: string): Writing {
  return { rule: { names: true, kvSep, pairSep }, bits };
}

function values(bits: number, pairSep: string): Writing {
  return { rule: { names: false, kvSep: '=', pairSep }, bits };
}

export const writings: readonly Writing[] = byBits([
  pairs(0.8, '=', '&'),
  pairs(1.4, '', ''),
  pairs(2.2, '=', ''),
  pairs(2.6, '=', '|'),
  pairs(2.6, '=', ','),
  pairs(2.6, '=', '\n'),
  pairs(2.8, ':', ','),
  pairs(2.8, ':', '&'),
  pairs(3.4, ':', '\n'),
  pairs(3.4, ':', ''),
  pairs(3.4, '=', ';'),
  pairs(5, ':', ';'),
  pairs(5, ':', '|'),
  pairs(8, '', '&'),
  pairs(8.5, '=', ' '),
  pairs(8.5, '=', ':'),
  pairs(8.5, '=', '-'),
  pairs(9, '_', '_'),
  pairs(9, '-', '-'),
  values(1.6, ''),
  values(2.4, '&'),
  values(2.6, '|'),
  values(2.6, ','),
  values(2.8, ':'),
  values(3, '\n'),
  values(3.2, '-'),
  values(3.2, '_'),
  values(7, '.'),
  values(8, '#'),
  values(8, '+'),
  values(8, ';'),
  values(8, ' '),
]);

export const encodings: readonly Encoding[] = choices<TextEncoding>(
  [0.5, 'none'],
  [1.8, 'rfc3986'],
  [2, 'form'],
  [2.4, 'form-php', 'form-python'],
  [2.6, 'javascript'],
  [3, 'form-dotnet'],
).map(({ value, bits }) => ({ rule: { encode: value }, bits }));
