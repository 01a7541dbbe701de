import { quoteName } from '../../../core/contract/errors.js';
import { findContradiction } from '../../../core/profiles/production-guard.js';
import type { Profile, ProfilePatch } from '../../../core/profiles/profile.js';
import type { CliContext } from '../../command.js';
import { confirm } from '../../prompt.js';
import { confirmDoubts, doubtful } from '../../request/doubts.js';

/**
 * Asks where the address of a profile is that of one of the other environment: writes to it would
 * need no confirmation.
 *
 * @throws InvalidInputError if the answer is no
 */
export async function confirmAddress(
  context: CliContext,
  profile: Pick<Profile, 'name' | 'environment' | 'base_url'>,
  yes: boolean | undefined,
): Promise<void> {
  const { profiles } = await context.profiles.load();
  const contradiction = findContradiction(profile, profiles.values());
  if (contradiction === undefined) return;
  const isTest = profile.environment === 'test';
  const test = quoteName(isTest ? profile.name : contradiction.name);
  const production = quoteName(isTest ? contradiction.name : profile.name);
  const { host } = new URL(profile.base_url);
  await confirm(
    context,
    `The test profile ${test} and the production profile ${production} have the same address, ${host}: ` +
      `writes with ${test} need no confirmation. Store it?`,
    yes,
  );
}

/**
 * Asks whether doubtful identifiers are meant before a profile has them.
 *
 * @throws InvalidInputError if the answer is no
 */
export function confirmIdentifiers(
  context: CliContext,
  values: Pick<ProfilePatch, 'tenant_code' | 'channel' | 'app_key' | 'key_prefix'>,
  yes = false,
): Promise<void> {
  const { tenant_code = '', channel = '', app_key = '', key_prefix } = values;
  const doubts = [
    ...doubtful('the tenant code', tenant_code, 'id'),
    ...doubtful('the channel', channel, 'id'),
    ...doubtful('the app key', app_key, 'id'),
    ...doubtful('the key prefix', key_prefix ?? '', 'id'),
  ];
  return confirmDoubts(context, doubts, 'Store it as it is?', yes);
}
