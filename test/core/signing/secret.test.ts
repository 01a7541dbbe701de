import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { format, inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { defaultRecipes, Secret, UserInfoClient } from '../../../src/index.js';

const text = 'q7Vx-the-app-secret-Zt41';
const secret = new Secret(text);
const holder = { name: 'shop', secrets: [secret], map: new Map([[secret, secret]]) };

function tableOf(data: unknown): string {
  const stream = new PassThrough();
  new Console(stream).table(data);
  return String(stream.read());
}

describe('a secret is not printed', () => {
  it.each<[string, () => string]>([
    ['in a template string', () => `${secret}`],
    ['when it is joined to a text', () => 'x'.concat(secret as unknown as string)],
    ['in a list that is joined', () => [secret].join()],
    ['as a key', () => Object.keys({ [secret as unknown as string]: 1 }).join()],
    ['in String and Number', () => String(secret) + Number(secret)],
    ['in JSON', () => JSON.stringify(holder)],
    ['in JSON of a Map', () => JSON.stringify([...holder.map])],
    ['when it is inspected', () => inspect(holder, { depth: null })],
    [
      'when everything hidden is inspected',
      () => inspect(holder, { depth: null, showHidden: true, getters: true }),
    ],
    [
      'when it is inspected without its leave',
      () => inspect(holder, { depth: null, customInspect: false, showHidden: true }),
    ],
    [
      'in format',
      () => format('%s %d %i %f %j %o %O', secret, secret, secret, secret, secret, secret, secret),
    ],
    ['in console.table', () => tableOf([{ secret }, holder])],
    [
      'in an error',
      () => inspect(Object.assign(new Error(`wrong: ${secret}`, { cause: holder }), { secret })),
    ],
    [
      'in its own names',
      () => JSON.stringify([Reflect.ownKeys(secret), Object.entries(secret), { ...secret }]),
    ],
    [
      'in a copy',
      () =>
        inspect([
          structuredClone(secret),
          deserialize(serialize(secret)),
          Object.assign({}, secret),
        ]),
    ],
    ['in the bytes of a copy', () => serialize(holder.secrets).toString('latin1')],
    ['in a Buffer', () => Buffer.from(secret as unknown as string).toString()],
    ['in a URL', () => new URLSearchParams({ secret: secret as unknown as string }).toString()],
  ])('%s', (_, show) => {
    const shown = show();
    expect(shown).not.toBe('');
    expect(shown).not.toContain(text);
  });

  it('in the client that signs with it, given as text or not', () => {
    for (const appSecret of [text, secret]) {
      const options = {
        baseUrl: 'https://api.example.com',
        tenantCode: 't',
        channel: 'c',
        appKey: 'k',
        appSecret,
      };
      const client = new UserInfoClient({ ...options, platform: { signing: defaultRecipes } });
      const shown =
        inspect(client, { depth: null, showHidden: true, customInspect: false }) +
        JSON.stringify(client);
      expect(shown).not.toContain(text);
    }
  });
});
