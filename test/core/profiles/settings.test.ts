import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/core/contract/errors.js';
import { parsePlatform } from '../../../src/core/platform/platform.js';
import type { SettingFlags } from '../../../src/core/profiles/flags-and-environment.js';
import type { Profile } from '../../../src/core/profiles/profile.js';
import {
  addProfile,
  ProfileStore,
  removeProfile,
  updateProfile,
} from '../../../src/core/profiles/profile-store.js';
import { resolveSettings, resolveSigning } from '../../../src/core/profiles/settings.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { rejection } from '../../support/rejection.js';
import { sampleProfile, secretText, temporaryFolder } from './fixtures.js';

const everything = {
  USERINFO_BASE_URL: 'http://127.0.0.1:8787/',
  USERINFO_TENANT_CODE: 'env-tenant',
  USERINFO_CHANNEL: 'env-channel',
  USERINFO_APP_KEY: 'env-key',
  USERINFO_APP_SECRET: 'env-secret',
};
const live = sampleProfile({
  name: 'live',
  environment: 'production',
  base_url: 'https://api.example.com/open',
  tenant_code: 'live-tenant',
});

async function storeOf(...profiles: Profile[]): Promise<ProfileStore> {
  const store = new ProfileStore(temporaryFolder());
  for (const profile of profiles) await store.change((list) => addProfile(list, profile));
  return store;
}

const readPlatform = async (file: string) => parsePlatform({ code_uses: file.length }, file);

function resolve(store: ProfileStore, flags: SettingFlags = {}, env: Record<string, string> = {}) {
  return resolveSettings({ flags, env, store, readPlatform });
}

describe('where a setting comes from', () => {
  it('is the flag, then the environment, then the active profile', async () => {
    const settings = await resolve(
      await storeOf(sampleProfile({ key_prefix: 'shop_' })),
      { channel: 'flag-channel' },
      { USERINFO_CHANNEL: 'env-channel', USERINFO_APP_KEY: 'env-key', USERINFO_TENANT_CODE: '' },
    );
    expect(settings).toMatchObject({
      profile: 'shop',
      environment: { value: 'test', origin: { kind: 'profile', name: 'shop' } },
      base_url: { value: 'https://test.example.com', origin: { kind: 'profile', name: 'shop' } },
      tenant_code: { value: 't1', origin: { kind: 'profile', name: 'shop' } },
      channel: { value: 'flag-channel', origin: { kind: 'flag', name: '--channel' } },
      app_key: { value: 'env-key', origin: { kind: 'environment', name: 'USERINFO_APP_KEY' } },
      secret: { source: { kind: 'file' }, origin: { kind: 'profile', name: 'shop' } },
      platform: { origin: { kind: 'default' } },
      key_prefix: 'shop_',
      warnings: [],
    });
    expect((await settings.secret.read()).reveal()).toBe(secretText);
  });

  it('is the profile of -p, then of USERINFO_PROFILE, then the active one', async () => {
    const store = await storeOf(sampleProfile(), live, sampleProfile({ name: 'third' }));
    expect((await resolve(store)).profile).toBe('shop');
    expect((await resolve(store, {}, { USERINFO_PROFILE: 'live' })).profile).toBe('live');
    expect((await resolve(store, { profile: 'third' }, { USERINFO_PROFILE: 'live' })).profile).toBe(
      'third',
    );
  });

  it('is the environment alone if it sets everything, whatever profile is active', async () => {
    const settings = await resolve(await storeOf(live), {}, everything);
    expect(settings).toMatchObject({
      profile: null,
      environment: { value: 'test', origin: { kind: 'default' } },
      base_url: {
        value: 'http://127.0.0.1:8787',
        origin: { kind: 'environment', name: 'USERINFO_BASE_URL' },
      },
      warnings: [],
    });
    expect((await settings.secret.read()).reveal()).toBe('env-secret');
  });

  it('is the chosen profile for what the environment does not set', async () => {
    const settings = await resolve(
      await storeOf(sampleProfile(), live),
      { profile: 'live' },
      everything,
    );
    expect(settings).toMatchObject({ profile: 'live', environment: { value: 'production' } });
    expect(settings.app_key.value).toBe('env-key');
  });

  it('needs no profile file if nothing is missing, and creates none', async () => {
    const folder = temporaryFolder();
    const store = new ProfileStore(folder);
    expect((await resolve(store, {}, everything)).warnings).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(store.path, '{"damaged');
    const [warning] = (await resolve(store, {}, everything)).warnings;
    expect(warning).toContain('profiles.json: invalid JSON');
  });

  it('fails on a damaged file if a value is missing or a profile is chosen', async () => {
    const store = new ProfileStore(temporaryFolder());
    writeFileSync(store.path, '{"damaged');
    const { USERINFO_APP_SECRET: _, ...incomplete } = everything;
    expect((await rejection(resolve(store, {}, incomplete))).name).toBe('ProfileFileError');
    expect((await rejection(resolve(store, { profile: 'live' }, everything))).name).toBe(
      'ProfileFileError',
    );
  });
});

describe('what is missing or wrong', () => {
  it('is listed completely, with the ways to set it', async () => {
    const error = await rejection(
      resolve(await storeOf(), { channel: 'c' }, { USERINFO_APP_KEY: 'k' }),
    );
    expect(error.name).toBe('CredentialError');
    expect(error).toMatchObject({
      code: 'CREDENTIALS',
      message:
        'missing: base URL (--base-url or USERINFO_BASE_URL), tenant code (--tenant-code or USERINFO_TENANT_CODE), ' +
        'app secret (USERINFO_APP_SECRET)',
      commands: ['userinfo profile add shop'],
    });
  });

  it('leads to a profile, or to a service to try, if there is nothing at all', async () => {
    expect(await rejection(resolve(await storeOf(), {}, {}))).toMatchObject({
      message: 'there is no profile yet',
      commands: ['userinfo profile add shop', 'userinfo serve --demo'],
    });
  });

  it('leads to "profile use" if there are profiles but none is active', async () => {
    const store = await storeOf(sampleProfile(), live);
    await store.change((list) => removeProfile(list, 'shop'));
    expect((await rejection(resolve(store))).commands).toEqual(['userinfo profile use live']);
  });

  it('is an unknown profile, with the source of its name', async () => {
    const store = await storeOf(sampleProfile());
    const error = await rejection(resolve(store, {}, { ...everything, USERINFO_PROFILE: 'shpo' }));
    expect(error.name).toBe('ProfileError');
    expect(error.message).toBe('there is no profile "shpo", which USERINFO_PROFILE names');
    expect(error.hint).toContain('Did you mean "shop"?');
  });

  it.each([
    [{ baseUrl: 'nowhere' }, {}, '--base-url is not an absolute http or https URL'],
    [
      {},
      { USERINFO_BASE_URL: 'ftp://x' },
      'USERINFO_BASE_URL is not an absolute http or https URL',
    ],
    [{ environment: 'staging' }, {}, '--environment is neither test nor production'],
    [{}, { USERINFO_ENVIRONMENT: 'prod' }, 'USERINFO_ENVIRONMENT is neither test nor production'],
    [{ tenantCode: '' }, {}, '--tenant-code is empty'],
    [{}, { USERINFO_CHANNEL: '  ' }, 'USERINFO_CHANNEL is empty'],
    [{}, { USERINFO_APP_KEY: 'k\0' }, 'USERINFO_APP_KEY holds U+0000'],
    [{ profile: '' }, {}, '--profile is empty'],
  ])(
    'is bad input for %j %j',
    async (flags: SettingFlags, env: Record<string, string>, message) => {
      const error = await rejection(resolve(await storeOf(sampleProfile()), flags, env));
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error.message).toBe(message);
    },
  );
});

describe('test or production', () => {
  it.each([
    ['a test profile alone', 'shop', {}, {}, 'test'],
    ['a production profile alone', 'live', {}, {}, 'production'],
    [
      'a production profile, whatever the variable says',
      'live',
      {},
      { USERINFO_ENVIRONMENT: 'test' },
      'production',
    ],
    [
      'a test profile that the variable raises',
      'shop',
      {},
      { USERINFO_ENVIRONMENT: 'production' },
      'production',
    ],
    ['a test profile that a flag raises', 'shop', { environment: 'production' }, {}, 'production'],
    [
      'a flag over the variable',
      'shop',
      { environment: 'test' },
      { USERINFO_ENVIRONMENT: 'production' },
      'test',
    ],
    [
      'a production profile at another address',
      'live',
      { baseUrl: 'http://127.0.0.1:1' },
      {},
      'production',
    ],
  ])('%s', async (_, profile, flags: SettingFlags, env: Record<string, string>, environment) => {
    const store = await storeOf(sampleProfile(), live);
    expect((await resolve(store, { ...flags, profile }, env)).environment.value).toBe(environment);
  });

  it('refuses a flag that would make a production profile a test one', async () => {
    const error = await rejection(resolve(await storeOf(live), { environment: 'test' }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.message).toBe('profile "live" is production: --environment cannot make it test');
  });

  it('warns about a variable that would', async () => {
    const { warnings } = await resolve(await storeOf(live), {}, { USERINFO_ENVIRONMENT: 'test' });
    expect(warnings).toEqual(['profile "live" is production: USERINFO_ENVIRONMENT is ignored']);
  });

  it('warns if the base URL of a test profile is that of a production profile', async () => {
    const store = await storeOf(sampleProfile({ base_url: live.base_url }), live);
    const settings = await resolve(store, { profile: 'shop' });
    expect(settings.environment.value).toBe('test');
    expect(settings.warnings).toEqual([
      'the base URL (profile "shop") belongs to the production profile "live", though "shop" is a test profile',
    ]);
  });

  it('is never test at the address of a production profile, however it is spelled', async () => {
    const store = await storeOf(sampleProfile(), live);
    const spelled = fc.constantFrom(
      'https://api.example.com/open',
      'HTTPS://API.EXAMPLE.COM:443/open//',
      'http://api.example.com:80/open',
      'http://api.example.com:443/./open',
      'https://api.example.com./x/../open/',
      'https://api。example．com//open',
      'https://ａｐｉ.example.com/%6Fpen',
      'https://api.example.com/OPEN',
    );
    const environment = fc.constantFrom(undefined, 'test', 'production');
    const profile = fc.constantFrom(undefined, 'shop', 'live');
    await fc.assert(
      fc.asyncProperty(
        fc.record({ baseUrl: fc.option(spelled, { nil: undefined }), environment, profile }),
        fc.record({
          USERINFO_BASE_URL: spelled,
          USERINFO_ENVIRONMENT: environment,
          USERINFO_PROFILE: profile,
        }),
        fc.boolean(),
        async (flags, variables, complete) => {
          const given = { ...(complete ? everything : {}), ...variables };
          const env = Object.fromEntries(
            Object.entries(given).filter(
              (entry): entry is [string, string] => entry[1] !== undefined,
            ),
          );
          const settings = await resolve(store, flags, env).catch((error: unknown) => error);
          if (settings instanceof InvalidInputError) return;
          expect(settings).toHaveProperty('environment');
          const { environment: decided, warnings } = settings as Awaited<
            ReturnType<typeof resolve>
          >;
          expect([decided.value, warnings]).toEqual(['production', expect.anything()]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is production at another path of the host of a production profile, unless another profile has that', async () => {
    const store = await storeOf(sampleProfile({ base_url: 'https://api.example.com/test' }), live);
    const at = async (baseUrl: string, flags: object = {}) =>
      (await resolve(store, { baseUrl, ...flags })).environment.value;
    expect(await at('https://api.example.com')).toBe('production');
    expect(await at('http://API.example.com:443/other')).toBe('production');
    expect(await at('https://api.example.com/other', { environment: 'test' })).toBe('production');
    expect(await at('https://api.example.com/test')).toBe('test');
    // No profile has these: the first is elsewhere, the second is this machine.
    expect(await at('https://api.example.com:8443/open')).toBe('production');
    expect(await at('http://localhost:8787')).toBe('test');
    expect((await resolve(store)).warnings).toEqual([]);
  });

  it('is not warned about between production profiles of one deployment', async () => {
    const store = await storeOf(live, sampleProfile({ ...live, name: 'live-2' }));
    expect((await resolve(store)).warnings).toEqual([]);
  });
});

describe('white space around a setting is cut off, and said', () => {
  it('of a variable', async () => {
    const env = {
      USERINFO_CHANNEL: ' web\t',
      USERINFO_APP_KEY: 'k1\n',
      USERINFO_ENVIRONMENT: ' test',
    };
    const settings = await resolve(await storeOf(sampleProfile()), {}, env);
    expect([settings.channel.value, settings.app_key.value]).toEqual(['web', 'k1']);
    expect(settings.warnings).toEqual([
      'USERINFO_ENVIRONMENT has white space around it, which is cut off',
      'USERINFO_CHANNEL has white space around it, which is cut off',
      'USERINFO_APP_KEY has white space around it, which is cut off',
    ]);
  });

  it('of a profile file that somebody edited; the next change of the profile stores it', async () => {
    const store = await storeOf(sampleProfile());
    writeFileSync(store.path, readFileSync(store.path, 'utf8').replace('"t1"', '" t1"'));
    const edited = await resolve(store);
    expect(edited).toMatchObject({
      tenant_code: { value: 't1' },
      warnings: ['tenant_code of profile "shop" has white space around it, which is cut off'],
    });
    await store.change((list) => updateProfile(list, 'shop', { channel: 'c2' }));
    expect(await resolve(store)).toMatchObject({ tenant_code: { value: 't1' }, warnings: [] });
  });

  it('and not of a file name, which may have it', async () => {
    const { ca_file } = await resolve(
      await storeOf(sampleProfile()),
      {},
      { USERINFO_CA_FILE: ' ca.pem' },
    );
    expect(ca_file?.value).toBe(' ca.pem');
  });
});

describe('the secret', () => {
  it('is fetched only when it is needed, and once', async () => {
    const runs = join(temporaryFolder(), 'runs');
    writeFileSync(runs, '');
    const script = "require('fs').appendFileSync(process.env.RUNS, '1'); console.log('fetched')";
    const command = `"${process.execPath}" -e "${script}"`;
    const store = await storeOf(sampleProfile({ secret: { kind: 'command', command } }));
    const { secret } = await resolve(store, {}, { RUNS: runs });
    expect(readFileSync(runs, 'utf8')).toBe('');
    expect([(await secret.read()).reveal(), (await secret.read()).reveal()]).toEqual([
      'fetched',
      'fetched',
    ]);
    expect(readFileSync(runs, 'utf8')).toBe('1');
  });

  it('can be resolved alone, without sending anything', async () => {
    const sources = { flags: {}, store: await storeOf(), readPlatform };
    const alone = await resolveSigning({ ...sources, env: { USERINFO_APP_SECRET: 's' } });
    expect((await alone.secret().read()).reveal()).toBe('s');
    expect(alone).toMatchObject({ profile: null, platform: { origin: { kind: 'default' } } });
    const store = await storeOf(sampleProfile({ signing_module: '/opt/signer.mjs' }));
    const active = await resolveSigning({ ...sources, store, env: { USERINFO_APP_SECRET: 's' } });
    expect(active).toMatchObject({ profile: 'shop', signing_module: '/opt/signer.mjs' });
    const given = {
      ...sources,
      store,
      flags: { platform: '1' },
      env: { USERINFO_APP_SECRET: 's' },
    };
    expect(await resolveSigning(given)).toMatchObject({ profile: 'shop', signing_module: null });
    expect((await active.secret().read()).reveal()).toBe('s');
    const without = await resolveSigning({ ...sources, env: {} });
    expect(() => without.secret()).toThrow('missing: app secret (USERINFO_APP_SECRET)');
  });

  it('is not shown when the settings are', async () => {
    const settings = await resolve(
      await storeOf(sampleProfile({ secret: { kind: 'file', value: new Secret(secretText) } })),
    );
    expect(inspect(settings, { depth: null })).not.toContain(secretText);
    expect(JSON.stringify(settings)).not.toContain(secretText);
  });
});
