import type { SignatureName } from '../core/signing/app-signatures.js';
import { completeRecipe, type Recipe } from '../core/signing/recipe.js';
import { groupRules, onlyRule, type RuleGroup } from './groups.js';
import { RequestTexts } from './request-texts.js';
import { RequestSignatures, type Rule, rulesFor } from './rules.js';
import type { SignedSample } from './sample.js';
import { search } from './search.js';
import { searchSpace } from './search-space.js';

/** The rules that give one of the two signatures of all samples. */
export interface FoundRules {
  /** By what they do to later requests, the likeliest first; none if no rule was found. */
  readonly groups: readonly RuleGroup[];
  /** Number of digests that were computed. */
  readonly tried: number;
  /** Whether single samples have rules, but no rule fits all samples. */
  readonly isDivided: boolean;
}

export interface FindOptions {
  /** Awaited now and then: lets others work, and may throw to stop the search. */
  readonly pause?: () => Promise<void>;
  /** Told the number of digests that were computed. */
  readonly onProgress?: (tried: number) => void;
  /** Number of digests after which the search gives up. @default 3,500,000 */
  readonly maxDigests?: number;
}

/** What a search of all usual rules needs: a few seconds. */
const usualMaxDigests = 3_500_000;
/** A constant may be a digest of the app key and the secret, which is soon tried. */
const constantMaxDigests = 200_000;

/**
 * Finds the rules of one signature that fit all samples, and groups them by what they do to later
 * requests. It takes one thread about a second, and a few if no rule fits.
 */
export async function findRules(
  signature: SignatureName,
  samples: readonly SignedSample[],
  options: FindOptions = {},
): Promise<FoundRules> {
  const constant = signature === 'app_sign' ? constantOf(samples) : null;
  const { pause = async () => {}, onProgress, maxDigests = usualMaxDigests } = options;
  const most = constant === null ? maxDigests : Math.min(maxDigests, constantMaxDigests);
  let tried = 0;
  let isDivided = false;
  for (const sample of bySize(samples)) {
    const space = searchSpace(signature, new RequestTexts(sample.request, sample.secret));
    const searching = search(space, sample.signature, most - tried);
    let step = searching.next();
    while (step.done !== true) {
      onProgress?.(tried + step.value);
      await pause();
      step = searching.next();
    }
    tried += step.value.tried;
    const { hit } = step.value;
    if (hit === null) continue;
    const rules = rulesFor(space, hit, sample.signature).filter(fits(samples, sample));
    await pause();
    if (rules.length > 0)
      return { groups: groupRules(signature, rules, sample), tried, isDivided: false };
    isDivided = samples.length > 1;
  }
  const groups = constant === null ? [] : [onlyRule(constantRule(constant))];
  return { groups, tried, isDivided: isDivided && constant === null };
}

/** The smallest request first: of it the fewest texts can be made. */
function bySize(samples: readonly SignedSample[]): SignedSample[] {
  return [...samples].sort((a, b) => a.request.params.length - b.request.params.length);
}

/** Whether a rule fits the samples that were not searched. */
function fits(samples: readonly SignedSample[], searched: SignedSample): (rule: Rule) => boolean {
  const others = samples
    .filter((sample) => sample !== searched)
    .map(({ request, secret, signature }) => ({
      signer: new RequestSignatures(new RequestTexts(request, secret)),
      signature,
    }));
  return (rule) => others.every(({ signer, signature }) => signer.of(rule) === signature);
}

/** A signature that several requests have: the operator may have issued it. */
function constantOf(samples: readonly SignedSample[]): string | null {
  const [first, ...others] = samples;
  if (first === undefined || others.length === 0) return null;
  return others.every(({ signature }) => signature === first.signature) ? first.signature : null;
}

/** The rule of a signature that each request has alike. */
export function constantRule(text: string): Recipe {
  return completeRecipe({ message: [text.replaceAll('$', '$$$$')], steps: [] });
}
