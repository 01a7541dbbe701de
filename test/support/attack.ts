import fc from 'fast-check';
import {
  type AppKeys,
  draftPassback,
  draftRead,
  freshRandom,
  signDraft,
} from './foreign-client.js';
import {
  type ByteMutation,
  byteMutation,
  type PairMutation,
  pairMutation,
  type WirePairs,
} from './mutations.js';

/** What must never be seen in a log. */
export const personal = {
  mobile: '13912345678',
  id_card: '330106199001011234',
  gps: '120.155070,30.274084',
  device_token: 'dt-7f3a9c51e0b84d26',
  chat_nickname: '张三丰李四光王五赵六',
};

/** Whom an attack is for. */
export interface Target {
  readonly app: AppKeys;
  /** An authorization code that is good for many reads. */
  readonly code: string;
  readonly users: readonly string[];
}

/** How a request is made, signed, and spoiled after that. */
export interface Attack {
  readonly operation: 'read' | 'passback';
  readonly user: number;
  readonly userInfo: string;
  /** Signed with the rest. */
  readonly extra: readonly (readonly [name: string, value: string])[];
  readonly query: readonly PairMutation[];
  readonly form: readonly PairMutation[];
  readonly bytes: readonly ByteMutation[];
}

const key = fc.oneof(
  fc.constantFrom(
    ...'__proto__ constructor toString union_id channel a.b 等级 \u202e x\0y'.split(' '),
    '',
  ),
  fc.string({ maxLength: 12 }),
);
const scalar = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const flat = fc
  .dictionary(key, scalar, { maxKeys: 4 })
  .map((entries) => JSON.stringify({ ...personal, ...entries }));
const oddJson = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '',
    'null',
    '[]',
    '{"mobile":"13912345678","mobile":"1"}',
    '{"__proto__":{"admin":true}}',
    '{"a":1,}',
    '{"a":01}',
    '{"a":NaN}',
    "{'a':1}",
    '{"a":"\\ud800"}',
    '{"a":"\\u0000"}',
    '{"a":"\\x"}',
    '\ufeff{"a":"b"}',
    `${'['.repeat(3000)}`,
    `${'{"a":'.repeat(3000)}`,
    `{"a":"${'\\"'.repeat(2000)}"}`,
    `{"${'k'.repeat(3000)}":1}`,
    `{"a":${'9'.repeat(3000)}}`,
    '{"a":"b"}{"a":"b"}',
    `{"13912345678":"x","330106199001011234":"y"}`,
  ),
);
const oddValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '\0',
    '__proto__',
    ',,,',
    '*',
    '1000000000',
    personal.mobile,
    personal.id_card,
    'x'.repeat(4000),
  ),
);
/** Most are of the operation: with any other the first checks refuse. */
const extraName = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('scope', 'info_name', 'primary_key', 'random', 'timestamp'),
  },
  { weight: 1, arbitrary: fc.constantFrom('union_id', 'mobile', 'app_secret', '__proto__') },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);

const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 2 });

/** Most requests keep one side whole, so that the checks behind the first ones are reached too. */
export const attack: fc.Arbitrary<Attack> = fc.oneof(
  fc.record({
    ...common(),
    extra: few(fc.tuple(extraName, oddValue)),
    query: none(),
    form: none(),
    bytes: none(),
  }),
  fc.record({
    ...common(),
    extra: none(),
    query: few(pairMutation),
    form: few(pairMutation),
    bytes: none(),
  }),
  fc.record({ ...common(), extra: none(), query: none(), form: none(), bytes: few(byteMutation) }),
  fc.record({
    ...common(),
    extra: few(fc.tuple(extraName, oddValue)),
    query: few(pairMutation),
    form: few(pairMutation),
    bytes: few(byteMutation),
  }),
);

function common() {
  return {
    operation: fc.constantFrom('read' as const, 'passback' as const),
    user: fc.nat(),
    userInfo: fc.oneof({ weight: 2, arbitrary: flat }, oddJson),
  };
}

function none() {
  return fc.constant([]);
}

/** The bytes of an attack, and the `user_info` that was signed before it was spoiled. */
export function writeAttack(attack: Attack, { app, code, users }: Target) {
  const userInfo = attack.userInfo.replace('{', `{"serial":"${freshRandom()}",`).replace(',}', '}');
  const form = { union_id: users[attack.user % users.length] ?? '', user_info: userInfo };
  const draft = attack.operation === 'read' ? draftRead(app, code) : draftPassback(app, form);
  for (const [name, value] of attack.extra) {
    const inForm = draft.form !== null && ['union_id', 'primary_key', 'user_info'].includes(name);
    (inForm ? draft.form : draft.query)?.set(name, value.toWellFormed());
  }
  const { target, body } = signDraft(draft);
  const [path, query = ''] = target.split('?');
  const sentBody = body === null ? null : spoil(body, attack.form);
  const head = [
    `${draft.method} ${path}?${spoil(query, attack.query)} HTTP/1.1`,
    'Host: fuzz.test',
    ...(sentBody === null ? [] : [`Content-Length: ${Buffer.byteLength(sentBody, 'latin1')}`]),
    'Connection: close',
  ];
  const whole = Buffer.from(`${head.join('\r\n')}\r\n\r\n${sentBody ?? ''}`, 'latin1');
  const bytes = attack.bytes.reduce<Uint8Array>((spoiled, mutate) => mutate(spoiled), whole);
  return { bytes, signedUserInfo: draft.form?.get('user_info') };
}

function spoil(text: string, mutations: readonly PairMutation[]): string {
  const pairs: WirePairs = text.split('&').map((part) => {
    const [name = '', value = ''] = part.split('=');
    return [name, value];
  });
  for (const mutate of mutations) mutate(pairs);
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}
