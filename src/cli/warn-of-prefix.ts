import { quoteName } from '../protocol/text.js';
import { specialUserInfoKeys } from '../protocol/user-info.js';
import type { Io } from './io.js';
import { warn } from './output/warn.js';

/** §4.2 rule 6: custom keys should carry the tenant's prefix, where the profile has one. */
export async function warnOfPrefix(io: Io, keys: Iterable<string>, prefix: string | null): Promise<void> {
  if (prefix === null) return;
  for (const key of keys) {
    if (key.startsWith(prefix) || Object.hasOwn(specialUserInfoKeys, key)) continue;
    await warn(
      io,
      `key ${quoteName(key)} does not begin with the prefix ${quoteName(prefix)} of the profile`,
    );
  }
}
