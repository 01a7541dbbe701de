import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/core/contract/errors.js';
import { ProfileError } from '../../../src/core/profiles/errors.js';
import { noProfiles } from '../../../src/core/profiles/profile-json.js';
import {
  activateProfile,
  addProfile,
  findProfile,
  removeProfile,
  renameProfile,
  updateProfile,
} from '../../../src/core/profiles/profile-store.js';
import { sampleProfile } from './fixtures.js';

const shop = sampleProfile();
const both = addProfile(addProfile(noProfiles, shop), sampleProfile({ name: 'live' }));

describe('the list of profiles', () => {
  it.each(['shop.cn', '2024', 'a_b-c.D', '生产', 'é1', 'x'.repeat(64)])(
    'accepts %j as a name',
    (name) => {
      expect(addProfile(both, sampleProfile({ name })).profiles.has(name)).toBe(true);
    },
  );

  const words = '__proto__ constructor toString -p .hidden a/b'.split(' ');
  it.each([...words, '', 'a b', 'a\nb', 'x'.repeat(65)])('refuses %j as a name', (name) => {
    expect(() => addProfile(both, sampleProfile({ name }))).toThrow(ProfileError);
    expect(() => renameProfile(both, 'shop', name)).toThrow(ProfileError);
  });

  it('refuses a name that is in use', () => {
    expect(() => addProfile(both, shop)).toThrow('there is a profile "shop" already');
    expect(() => renameProfile(both, 'shop', 'live')).toThrow('there is a profile "live" already');
  });

  it('keeps the position of a renamed profile', () => {
    expect([...renameProfile(both, 'shop', 'store').profiles.keys()]).toEqual(['store', 'live']);
  });

  it('refuses a field that breaks its rule', () => {
    expect(() => updateProfile(both, 'shop', { base_url: 'nowhere' })).toThrow(InvalidInputError);
    for (const field of ['tenant_code', 'channel', 'app_key', 'key_prefix'])
      expect(() => addProfile(both, sampleProfile({ name: 'new', [field]: ' ' }))).toThrow(
        `${field} is empty`,
      );
  });

  it.each([
    ['shpo', 'Did you mean "shop"?'],
    ['LIVE', 'Did you mean "live"?'],
    ['something-else', 'The profiles are listed by:'],
    ['constructor', 'The profiles are listed by:'],
  ])('suggests a similar name when there is no profile %j', (name, hint) => {
    for (const attempt of [findProfile, activateProfile, removeProfile]) {
      expect(() => attempt(both, name)).toThrow(
        expect.objectContaining({ code: 'PROFILE', hint: expect.stringContaining(hint) }),
      );
    }
  });
});
