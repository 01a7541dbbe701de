import type { SignatureName } from '../core/signing/app-signatures.js';
import { compileRecipe } from '../core/signing/compile-recipe.js';
import { type Recipe, unlessRefused } from '../core/signing/recipe.js';
import { paramOf } from '../core/signing/request.js';
import { fillRecipe } from './fill-recipe.js';
import { type FindOptions, type FoundRules, findRules } from './find-rules.js';
import { onlyRule, type RuleGroup } from './groups.js';
import { type SecretSample, type SignedSample, signedSample } from './sample.js';

/** The rules of both signatures of captured requests. */
export interface FoundPair {
  /** `null` where a sample has no `app_sign`. */
  readonly app_sign: FoundRules | null;
  readonly sign: FoundRules;
  /** Whether rules of `sign` give `app_sign`, too: these are taken for both. */
  readonly isOneRule: boolean;
}

export interface FindPairOptions extends Omit<FindOptions, 'maxDigests'> {
  /** The rules that are known. */
  readonly known?: Partial<Readonly<Record<SignatureName, Recipe>>>;
  /**
   * What a document says: recipes in untrusted JSON, with `"?"` for each value that it does not
   * say.
   */
  readonly partial?: Partial<Readonly<Record<SignatureName, unknown>>>;
}

/**
 * Number of digests after which `app_sign` may be a constant, which no search finds: five times
 * what any usual rule took.
 */
const maxAppSignDigests = 500_000;

/**
 * Finds the rules of both signatures that fit all samples.
 *
 * @throws RecipeError for a partial recipe that is wrong however it is filled in
 */
export async function findBoth(
  samples: readonly SecretSample[],
  { known = {}, partial = {}, ...options }: FindPairOptions = {},
): Promise<FoundPair> {
  const signed = (name: SignatureName) => samples.map((sample) => signedSample(name, sample));
  const find = async (name: SignatureName): Promise<FoundRules> => {
    const rule = known[name];
    if (rule !== undefined) return { groups: [onlyRule(rule)], tried: 0, isDivided: false };
    if (name in partial) return fillRecipe(name, partial[name], signed(name), options);
    const most = name === 'app_sign' ? { maxDigests: maxAppSignDigests } : {};
    return findRules(name, signed(name), { ...options, ...most });
  };
  const sign = await find('sign');
  if (samples.some((sample) => paramOf(sample, 'app_sign') === undefined))
    return { app_sign: null, sign, isOneRule: false };
  const isOpen = known.app_sign === undefined && !('app_sign' in partial);
  const same = isOpen ? groupsThatFit(sign.groups, signed('app_sign')) : [];
  if (same.length === 0) return { app_sign: await find('app_sign'), sign, isOneRule: false };
  return { app_sign: { groups: same, tried: 0, isDivided: false }, sign, isOneRule: true };
}

/** A platform may have one rule for both signatures. */
function groupsThatFit(
  groups: readonly RuleGroup[],
  samples: readonly SignedSample[],
): RuleGroup[] {
  return groups.filter(({ recipe }) => {
    const signer = compileRecipe(recipe);
    return samples.every(
      ({ request, signature, secret }) =>
        unlessRefused(() => signer.sign(request, secret))?.digest === signature,
    );
  });
}
