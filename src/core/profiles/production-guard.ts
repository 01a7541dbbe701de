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
  const stated = explicit.environment;
  if (profile?.environment === 'production') return productionProfile(stated, profile);
  if (stated?.value === 'production') return { environment: stated, warnings: [] };
  const candidates = profile === null ? [...profiles] : [profile, ...profiles];
  const owner = candidates.find(({ base_url }) => sameDeployment(base_url, baseUrl.value));
  const production = productionAt(baseUrl.value, owner, candidates);
  if (production !== undefined) return sharedWith(production, stated, profile, baseUrl);
  if (stated !== null) return { environment: stated, warnings: [] };
  if (owner !== undefined) return { environment: environmentOf(owner), warnings: [] };
  return byAddress(baseUrl);
}

/**
 * The production profile of a base URL, whose `owner` is the first profile that has it. Test and
 * production may share a host, each with its own path. A path that no profile has may lead to the
 * production of its host, and counts as it.
 */
function productionAt(
  baseUrl: string,
  owner: Profile | undefined,
  candidates: readonly Profile[],
): Profile | undefined {
  const production = candidates.filter(({ environment }) => environment === 'production');
  if (owner === undefined) return production.find(({ base_url }) => sameHost(base_url, baseUrl));
  return production.find(({ base_url }) => sameDeployment(base_url, baseUrl));
}

/** What the base URL of a production profile is to a test profile, or to none. */
function sharedWith(
  production: Profile,
  stated: Setting<Environment> | null,
  profile: Profile | null,
  baseUrl: Setting<string>,
): GuardedEnvironment {
  const shared = `${nameBaseUrl(baseUrl)} belongs to the production profile "${production.name}"`;
  if (profile === null || baseUrl.origin.kind !== 'profile') {
    const warnings = [`${shared}: treated as production`];
    return { environment: environmentOf(production), warnings };
  }
  const warnings = [`${shared}, though "${profile.name}" is a test profile`];
  return { environment: stated ?? environmentOf(profile), warnings };
}

/** Decides by the address alone: only this machine counts as test. */
function byAddress(baseUrl: Setting<string>): GuardedEnvironment {
  if (isLoopback(new URL(baseUrl.value).hostname))
    return { environment: byDefault('test'), warnings: [] };
  const unknown = `no profile has ${nameBaseUrl(baseUrl)}`;
  const warning = `${unknown}: treated as production, unless --environment says test`;
  return { environment: byDefault('production'), warnings: [warning] };
}

/** The base URL and where it comes from, for messages. */
function nameBaseUrl({ origin }: Setting<string>): string {
  return `the base URL (${describeOrigin(origin)})`;
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
  stated: Setting<Environment> | null,
  profile: Profile,
): GuardedEnvironment {
  const environment = environmentOf(profile);
  if (stated?.value !== 'test') return { environment, warnings: [] };
  const problem = `profile "${profile.name}" is production`;
  if (stated.origin.kind === 'flag') {
    throw new InvalidInputError(`${problem}: ${stated.origin.name} cannot make it test`, {
      hint: 'Choose a test profile with -p. The environments are listed by:',
      commands: ['userinfo profile list'],
    });
  }
  return { environment, warnings: [`${problem}: ${describeOrigin(stated.origin)} is ignored`] };
}
