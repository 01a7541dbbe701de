import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePlatform } from '../../../src/core/platform/platform.js';
import { ProfileFileError } from '../../../src/core/profiles/errors.js';
import type { Profile } from '../../../src/core/profiles/profile.js';
import {
  exportProfile,
  formatProfile,
  type ProfileList,
} from '../../../src/core/profiles/profile-json.js';
import {
  addProfile,
  ProfileStore,
  removeProfile,
} from '../../../src/core/profiles/profile-store.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { sampleProfile, secretText, temporaryFolder } from './fixtures.js';

const shown = ({ active, profiles }: ProfileList) => ({
  active,
  profiles: [...profiles.values()].map(formatProfile),
});
/**
 * Follows `path` down, each number choosing a field, and does the one of three kinds of damage
 * there.
 */
function spoil(
  json: Record<string, unknown>,
  path: readonly number[],
  kind: number,
  value: unknown,
): void {
  const [first = 0, ...rest] = path;
  const names = Object.keys(json);
  const name = names[first % names.length] ?? 'more';
  const inner = json[name];
  if (rest.length > 0 && typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    spoil(inner as Record<string, unknown>, rest, kind, value);
  } else if (kind === 0) json[name] = value;
  else if (kind === 1) delete json[name];
  else json.unknown = value;
}

describe('any profile', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
  // White space around one is cut off.
  const identifier = text.filter((value) => value !== '' && value === value.trim());
  const secretSource: fc.Arbitrary<Profile['secret']> = fc.oneof(
    fc
      .string({ unit: 'binary', minLength: 1 })
      .map((value) => ({ kind: 'file' as const, value: new Secret(value) })),
    fc.constant({ kind: 'environment' as const, name: 'SHOP_APP_SECRET' }),
    text.map((command) => ({ kind: 'command' as const, command })),
  );
  const recipe = { message: ['$params', '&key=', '$secret'], steps: ['md5'], output: 'HEX' };
  const given = {
    signing: { app_sign: recipe, sign: recipe },
    result_codes: { 1001: 'tooManyRequests' },
    headers: ['X-Key'],
    http_status: 200,
  };
  const profile: fc.Arbitrary<Profile> = fc.record(
    {
      name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
      environment: fc.constantFrom('test', 'production'),
      base_url: fc.constantFrom('https://api.example.com', 'http://127.0.0.1:8787/open'),
      tenant_code: identifier,
      channel: identifier,
      app_key: identifier,
      secret: secretSource,
      key_prefix: identifier,
      platform: fc.constant(parsePlatform(given, 'the file')),
      headers: fc.constant({
        'X-Key': { env: 'KEY' },
        'X-Token': { command: 'c', expires: 60 },
        'X-Plain': 'x',
      }),
      signing_module: fc.constant(join(tmpdir(), 'signer.mjs')),
    },
    {
      requiredKeys: [
        'name',
        'environment',
        'base_url',
        'tenant_code',
        'channel',
        'app_key',
        'secret',
      ],
    },
  );
  const plain = ({ secret, ...fields }: Profile) => ({
    ...fields,
    secret: secret.kind === 'file' ? secret.value.reveal() : secret,
  });

  it('is read from the file as it was written', async () => {
    const store = new ProfileStore(temporaryFolder());
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(profile, { selector: ({ name }) => name, maxLength: 3 }),
        async (profiles) => {
          for (const { name } of await store.list())
            await store.change((list) => removeProfile(list, name));
          for (const one of profiles) await store.change((list) => addProfile(list, one));
          for (const one of profiles) expect(plain(await store.get(one.name))).toEqual(plain(one));
          expect(await store.list()).toHaveLength(profiles.length);
        },
      ),
      { numRuns: 6 },
    );
  });

  it('that is damaged is refused by the reader of read and passback, or by conf before it writes, and stays', async () => {
    const store = new ProfileStore(temporaryFolder());
    const file = fc
      .uniqueArray(profile, { selector: ({ name }) => name, minLength: 1, maxLength: 2 })
      .map((profiles) => ({
        active: profiles[0]?.name ?? null,
        profiles: Object.fromEntries(profiles.map((one) => [one.name, formatProfile(one)])),
      }));
    const wrong = fc.constantFrom<unknown>(
      null,
      '',
      ' ',
      'x',
      '\0',
      'file',
      true,
      false,
      1,
      [],
      {},
      { kind: 'file' },
    );
    // Any field of the file, however deep, has its value changed, is taken away, or gets an unknown
    // one beside it.
    const damage = fc.tuple(fc.array(fc.nat(20), { maxLength: 4 }), fc.nat(2), wrong);
    let [taken, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(file, fc.option(damage), async (right, fault) => {
        const json = structuredClone(right) as Record<string, unknown>;
        if (fault !== null) spoil(json, ...fault);
        const text = JSON.stringify(json);
        writeFileSync(store.path, text);
        const read = await store.load().catch((error: unknown) => error);
        const changed = await store.change((list) => list).catch((error: unknown) => error);
        if (changed instanceof Error) {
          expect(changed).toBeInstanceOf(ProfileFileError);
          expect(readFileSync(store.path, 'utf8')).toBe(text);
          // What the reader does not know it does not look at.
          if (!(read instanceof Error)) expect(text).toContain('"unknown"');
          refused += 1;
        } else {
          expect(shown(changed as ProfileList)).toEqual(shown(read as ProfileList));
          expect(shown(await store.load())).toEqual(shown(read as ProfileList));
          taken += 1;
        }
      }),
      { numRuns: 60 },
    );
    expect(Math.min(taken, refused)).toBeGreaterThan(5);
  });

  it('does not contain its secret when it is inspected or exported', () => {
    const kept = sampleProfile({
      platform: parsePlatform({ signing: { app_sign: recipe, sign: recipe } }, 'the file'),
    });
    expect(inspect(kept, { depth: null })).not.toContain(secretText);
    expect(JSON.stringify(kept)).not.toContain(secretText);
    expect(JSON.stringify(exportProfile(kept))).not.toContain(secretText);
    for (const one of [
      kept,
      sampleProfile({ secret: { kind: 'command', command: 'pass show shop' } }),
    ]) {
      expect(exportProfile(one)).toMatchObject({ name: 'shop', app_key: 'k1' });
      expect(exportProfile(one)).not.toHaveProperty('secret');
    }
  });

  it('keeps its secret out of the errors of a damaged file', async () => {
    const store = new ProfileStore(temporaryFolder());
    await store.change((list) => addProfile(list, sampleProfile()));
    const written = readFileSync(store.path, 'utf8');
    const cut = fc.tuple(
      fc.nat(written.length - 1),
      fc.constantFrom('', '"', '{', '}', ',', ':', '\\', '\n', '1'),
    );
    await fc.assert(
      fc.asyncProperty(cut, async ([at, instead]) => {
        writeFileSync(store.path, written.slice(0, at) + instead + written.slice(at + 1));
        const error = await store.load().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        if (error === null) return;
        expect(error).toBeInstanceOf(ProfileFileError);
        expect(inspect(error, { depth: null })).not.toContain(secretText.slice(0, 8));
      }),
      { numRuns: 100 },
    );
  });
});
