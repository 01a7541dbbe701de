import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as sdk from '../../../src/index.js';
import * as service from '../../../src/service/index.js';
import { httpServer } from '../../support/raw-server.js';

/** What a program with a minifier of its own has of the SDK: the classes have other names there. */
let minified: typeof sdk;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'userinfo-'));
  const bundle = await rolldown({ input: 'src/index.ts', platform: 'node' });
  await bundle.write({ file: join(folder, 'sdk.mjs'), minify: true });
  await bundle.close();
  minified = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'sdk.mjs')).href);
});
afterAll(() => rm(folder, { recursive: true }));

const credentials = { tenantCode: 'acme', channel: 'web', appKey: 'app-1', appSecret: 's' };
const row = { unionId: 'u1', userInfo: { n: 1 } };

/** The errors of a copy of the SDK, as calls throw them. */
async function errorsOf({ UserInfoClient, compileRecipe }: typeof sdk) {
  const server = await httpServer((_, response) =>
    response.end('{"code":40401,"msg":"no","data":{}}'),
  );
  const client = new UserInfoClient({ ...credentials, baseUrl: server.url });
  const nowhere = client.withOptions({ appSecret: () => Promise.reject(new Error('sealed')) });
  const caught = (call: () => unknown) =>
    Promise.resolve()
      .then(call)
      .catch((error: unknown) => error);
  const errors = {
    RejectedError: await caught(() => client.passback(row)),
    NoAnswerError: await caught(() => nowhere.passback(row)),
    CancelledError: await caught(() => client.passback(row, { signal: AbortSignal.abort() })),
    InvalidInputError: await caught(() => client.passback({ ...row, unionId: '' })),
    RecipeError: await caught(() => compileRecipe({ message: [], steps: [] })),
  };
  await client.close();
  await server.close();
  return errors;
}

describe('errors', () => {
  it('have their names in a minified program, also for what shows the name of the constructor', async () => {
    for (const [name, error] of Object.entries(await errorsOf(minified))) {
      const shown = error as Error;
      expect([shown.name, shown.constructor.name]).toEqual([name, name]);
      expect(shown.stack).toMatch(new RegExp(`^${name}: `));
    }
  });

  it('have the names under which they are exported', () => {
    const exported: [string, unknown][] = Object.entries({ ...sdk, ...service });
    for (const [name, value] of exported)
      if (value instanceof Function && value.prototype instanceof Error)
        expect(value.name).toBe(name);
  });

  it('of one copy of the package are those of another', async () => {
    const { RejectedError, NoAnswerError, CancelledError, ...others } = await errorsOf(minified);
    for (const error of [RejectedError, NoAnswerError, CancelledError]) {
      expect(error).not.toBeInstanceOf(minified.InvalidInputError);
      expect(error).toBeInstanceOf(sdk.CallError);
      expect(error).toBeInstanceOf(minified.CallError);
      expect(sdk.isUserInfoFailure(error)).toBe(true);
    }
    for (const error of Object.values(others)) {
      expect(error).not.toBeInstanceOf(sdk.CallError);
      expect(error).toBeInstanceOf(sdk.UserInfoError);
      expect(sdk.isUserInfoFailure(error)).toBe(true);
    }
    expect(RejectedError).toBeInstanceOf(sdk.RejectedError);
    expect(RejectedError).not.toBeInstanceOf(sdk.NoAnswerError);
    expect(sdk.isUserInfoFailure(new Error('another'))).toBe(false);
    class Own extends sdk.CallError {
      readonly code = 'OWN';
    }
    expect(RejectedError).not.toBeInstanceOf(Own);
    expect(new Own('mine')).toBeInstanceOf(sdk.CallError);
  });
});

describe('an error that a test of a program makes', () => {
  const shown = ({ message, stack: _, ...fields }: Error) => ({
    message,
    ...fields,
    requestId: '',
  });

  it.each([
    ['read', 40106],
    ['read', 42901],
    ['passback', 40401],
    ['passback', 50001],
    ['passback', 71234],
  ] as const)('of a refused %s, %i, is as the client throws it', async (operation, resultCode) => {
    const made = new sdk.RejectedError({ resultCode, operation, msg: 'no' });
    const server = await httpServer((_, response) => {
      response.statusCode = made.httpStatus;
      response.end(JSON.stringify({ code: resultCode, msg: 'no', data: {} }));
    });
    const client = new sdk.UserInfoClient({ ...credentials, baseUrl: server.url, attempts: 1 });
    const thrown = await (operation === 'read'
      ? client.read({ code: 'c' })
      : client.passback(row)
    ).catch((error: unknown) => error);
    await client.close();
    await server.close();
    expect(thrown).toBeInstanceOf(sdk.RejectedError);
    expect(shown(made)).toEqual(shown(thrown as Error));
    expect(made.answer.data).toEqual({});
    expect(new sdk.RejectedError({ resultCode: 40401 }).msg).not.toBe('');
  });

  it('of a call without an answer is as the client throws it', async () => {
    const client = new sdk.UserInfoClient({
      ...credentials,
      baseUrl: 'http://127.0.0.1:1',
      attempts: 1,
    });
    const thrown = await client.passback(row).catch((error: unknown) => error);
    await client.close();
    const { message, hint, cause } = thrown as sdk.NoAnswerError;
    const given = {
      reason: 'connect',
      received: false,
      operation: 'passback',
      hint,
      cause,
    } as const;
    expect(shown(new sdk.NoAnswerError(message, given))).toEqual(shown(thrown as Error));
    const lost = new sdk.NoAnswerError('no answer', { reason: 'timeout', received: true });
    expect(lost).toMatchObject({ operation: 'read', retryable: false });
  });
});
