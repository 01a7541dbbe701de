import { expectTypeOf, it } from 'vitest';
import {
  isUserInfoFailure,
  type JsonValue,
  moduleSigner,
  type NoAnswerReason,
  type OperationName,
  type PassbackAnswer,
  type PassbackInput,
  type PassbackOutcome,
  type ReadAnswer,
  type ReadData,
  type ReadInput,
  type ReadOutcome,
  RejectedError,
  type UserInfoClient,
  type UserInfoClientOptions,
  type UserInfoValue,
} from '../../../src/index.js';

// `npm run types` checks this file; tenant/ has the types of a program that declares its own names.
declare const client: UserInfoClient;
declare const options: UserInfoClientOptions;

it('each operation has types for its input, its answer and the outcome of a row', () => {
  // Written out: a type that the SDK does not export cannot be imported here.
  interface TypesOf {
    readonly read: [ReadInput, ReadAnswer, ReadOutcome<ReadInput>];
    readonly passback: [PassbackInput, PassbackAnswer, PassbackOutcome<PassbackInput>];
  }
  expectTypeOf<keyof TypesOf>().toEqualTypeOf<OperationName>();
});

it('data of a read has exactly the requested names, with the types of §4.1, and any JSON for those of a tenant', () => {
  const named = () =>
    client.read({ code: 'c', infoNames: ['mobile', 'device_info', 'acme_level'] });
  type Data = Awaited<ReturnType<typeof named>>['data'];
  expectTypeOf<Data['union_id']>().toEqualTypeOf<string>();
  expectTypeOf<Data['mobile']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Data['acme_level']>().toEqualTypeOf<JsonValue | undefined>();
  expectTypeOf<Data['device_info']>().toEqualTypeOf<readonly string[] | undefined>();
  expectTypeOf<keyof Data>().toEqualTypeOf<'union_id' | 'mobile' | 'device_info' | 'acme_level'>();
  expectTypeOf<Awaited<ReturnType<typeof named>>['envelope']['data']>().toEqualTypeOf<Data>();
});

it('data of a read without names is the whole record', () => {
  const whole = () => client.read({ code: 'c' });
  type Data = Awaited<ReturnType<typeof whole>>['data'];
  expectTypeOf<Data>().toEqualTypeOf<ReadData>();
  const usual = ({ basic_info, extension_info, login_device_info }: Data) => {
    const { mobile } = basic_info ?? {};
    expectTypeOf(mobile).toEqualTypeOf<string | undefined>();
    expectTypeOf(extension_info?.acme_level).toEqualTypeOf<JsonValue | undefined>();
    for (const device of login_device_info ?? []) {
      expectTypeOf(device.brand).toEqualTypeOf<string | undefined>();
      // @ts-expect-error: a field that §2.3 does not have
      void device.colour;
    }
  };
  expectTypeOf(usual).returns.toBeVoid();
});

it('data of a read with names that are not known to the compiler has any name', () => {
  const names: string[] = [];
  const some = () => client.read({ code: 'c', infoNames: names });
  type Data = Awaited<ReturnType<typeof some>>['data'];
  expectTypeOf<Data['union_id']>().toEqualTypeOf<string>();
  expectTypeOf<Data['acme_level']>().toEqualTypeOf<JsonValue | undefined>();
});

it('one switch over the code of an error narrows it', () => {
  const told = (error: unknown) => {
    if (!isUserInfoFailure(error)) throw error;
    switch (error.code) {
      case 'REJECTED':
        return expectTypeOf(error.resultCode).toEqualTypeOf<number>();
      case 'NO_ANSWER':
        return expectTypeOf(error.reason).toEqualTypeOf<NoAnswerReason>();
      case 'CANCELLED':
        return expectTypeOf(error.received).toEqualTypeOf<boolean>();
      case 'RETRY_LATER':
        return expectTypeOf(error.retryAfterMs).toEqualTypeOf<number>();
      case 'INVALID_INPUT':
      case 'INVALID_RECIPE':
        return expectTypeOf(error.message).toEqualTypeOf<string>();
      default:
        return expectTypeOf(error).toBeNever();
    }
  };
  expectTypeOf(told).parameter(0).toBeUnknown();
});

interface Profile {
  readonly acme_level: string;
  readonly age?: number;
  readonly gone: null;
}

it('misuse does not compile', () => {
  const profile: Profile = { acme_level: 'gold', gone: null };
  const calls = async () => {
    await client.passback({ unionId: 'u', userInfo: profile });
    await client.passback({ primaryKey: 'acme_level', userInfo: profile });
    client.passbackAll([{ unionId: 'u', userInfo: profile, line: 7 }]);
    // @ts-expect-error: nested
    client.passbackAll([{ unionId: 'u', userInfo: { a: { b: 1 } } }]);
    // @ts-expect-error: nobody is named
    client.passbackAll([{ userInfo: profile }]);
    for await (const one of client.readAll([{ code: 'c', infoNames: ['mobile'] }])) {
      if (one.outcome === 'ok')
        expectTypeOf(one.answer.data.mobile).toEqualTypeOf<string | undefined>();
    }
    const anyInfo: Record<string, UserInfoValue> = {};
    await client.passback({ primaryKey: 'mobile', userInfo: anyInfo });
    const { data } = await client.read({ code: 'c', infoNames: ['mobile'] });
    // @ts-expect-error: a misspelt name
    void data.moblie;
    // @ts-expect-error: a special name in other letter case
    await client.read({ code: 'c', infoNames: ['Mobile'] });
    // @ts-expect-error: nobody is named
    await client.passback({ userInfo: profile });
    // @ts-expect-error: not a key of user_info
    await client.passback({ primaryKey: 'mobile', userInfo: profile });
    // @ts-expect-error: reserved
    await client.passback({ unionId: 'u', userInfo: { union_id: 'u' } });
    // @ts-expect-error: nested
    await client.passback({ unionId: 'u', userInfo: { a: { b: 1 } } });
    // @ts-expect-error: an array
    await client.passback({ unionId: 'u', userInfo: ['a'] });
    // @ts-expect-error: an array
    client.passbackAll([{ unionId: 'u', userInfo: ['a'] }]);
    // @ts-expect-error: no module
    moduleSigner(5, 'm');
    // @ts-expect-error: a text, not { digest }
    moduleSigner({ sign: () => 'text' }, 'm');
    // @ts-expect-error: no logger
    client.withOptions({ logger: {} });
    // @ts-expect-error: a refusal has a code
    new RejectedError({ msg: 'no' });
    // @ts-expect-error: undefined is no value
    await client.passback({ unionId: 'u', userInfo: { a: undefined } });
    // @ts-expect-error: a Date is no value
    await client.passback({ unionId: 'u', userInfo: { a: new Date() } });
  };
  expectTypeOf(calls).returns.resolves.toBeVoid();
});
