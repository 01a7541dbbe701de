import { isLoopback, sameDeployment, sameHost } from '../contract/base-url.js';
import { InvalidInputError } from '../contract/errors.js';
import { describeOrigin, type ExplicitValues, type Setting } from './flags-and-environment.js';
import type { Environment, Profile } from './profile.js';

/** The deployment of a request, with warnings for the user. */
export interface GuardedEnvironment {
  readonly environment: Setting<Environment>;
  readonly warnings: readonly string[];
}

/**
 * Decides whether a request goes to test or production. A production profile is always production:
 * a flag that says otherwise is refused, a variable causes a warning. A test profile can be
 * switched to production by either, and counts for its own base URL alone: another one is judged by
 * its address, whoever chose the profile. It is production if it is that of a production profile,
 * or one elsewhere that no profile has and nothing calls a test deployment.
 *
 * @throws InvalidInputError for `--environment test` with a production profile
 */
export function decideEnvironment(
  explicit: ExplicitValues,
  profile: Profile | null,
  baseUrl: Setting<string>,
  profiles: Iterable<Profile>,
): GuardedEnvironment {
  if (profile?.environment === 'production')
    return productionProfile(explicit.environment, profile);
  if (explicit.environment?.value === 'production')
    return { environment: explicit.environment, warnings: [] };
  const candidates = profile === null ? [...profiles] : [profile, ...profiles];
  const owner = candidates.find(({ base_url }) => sameDeployment(base_url, baseUrl.value));
  const isSame = owner === undefined ? sameHost : sameDeployment;
  const production = candidates.find(
    ({ environment, base_url }) => environment === 'production' && isSame(base_url, baseUrl.value),
  );
  const where = `the base URL (${describeOrigin(baseUrl.origin)})`;
  if (production !== undefined) {
    const shared = `${where} belongs to the production profile "${production.name}"`;
    if (profile === null || baseUrl.origin.kind !== 'profile') {
      const warnings = [`${shared}: treated as production`];
      return { environment: environmentOf(production), warnings };
    }
    const environment = explicit.environment ?? environmentOf(profile);
    return { environment, warnings: [`${shared}, though "${profile.name}" is a test profile`] };
  }
  const declared = explicit.environment ?? (owner && environmentOf(owner));
  if (declared !== undefined) return { environment: declared, warnings: [] };
  if (isLoopback(new URL(baseUrl.value).hostname))
    return { environment: byDefault('test'), warnings: [] };
  const warning = `no profile has ${where}: treated as production, unless --environment says test`;
  return { environment: byDefault('production'), warnings: [warning] };
}

/**
 * A profile of the other environment with the base URL of this one: writes by the test profile of
 * the two are not asked about.
 */
export function findContradiction(
  profile: Pick<Profile, 'name' | 'environment' | 'base_url'>,
  profiles: Iterable<Profile>,
): Profile | undefined {
  return [...profiles].find(
    ({ name, environment, base_url }) =>
      name !== profile.name &&
      environment !== profile.environment &&
      sameDeployment(base_url, profile.base_url),
  );
}

const byDefault = (value: Environment): Setting<Environment> => ({
  value,
  origin: { kind: 'default' },
});

function environmentOf({ name, environment }: Profile): Setting<Environment> {
  return { value: environment, origin: { kind: 'profile', name } };
}

function productionProfile(
  explicit: Setting<Environment> | null,
  profile: Profile,
): GuardedEnvironment {
  const environment = environmentOf(profile);
  if (explicit?.value !== 'test') return { environment, warnings: [] };
  const problem = `profile "${profile.name}" is production`;
  if (explicit.origin.kind === 'flag') {
    throw new InvalidInputError(`${problem}: ${explicit.origin.name} cannot make it test`, {
      hint: 'Choose a test profile with -p. The environments are listed by:',
      commands: ['userinfo profile list'],
    });
  }
  return { environment, warnings: [`${problem}: ${describeOrigin(explicit.origin)} is ignored`] };
}
