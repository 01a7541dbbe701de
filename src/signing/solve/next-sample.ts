import type { Recipe } from '../recipe.js';
import type { SignableRequest } from '../request.js';
import type { Secret } from '../secret.js';
import { compileRecipe } from '../sign.js';
import type { Signer } from '../signer.js';
import type { Weighed } from './space/choice.js';
import { type Twist, twistsFor } from './twists.js';

/** A request that would tell recipes apart, if somebody who knows the rule signed it. */
export interface NextSample {
  readonly request: SignableRequest;
  /** What is different from the sample that there is, one thing each. */
  readonly changes: readonly string[];
  /** Into how many groups it parts the recipes, and how many recipes there are. */
  readonly groups: number;
  readonly of: number;
}

/** Only so many of the likeliest recipes are told apart. */
const considered = 300;

interface Contender extends Weighed {
  readonly signer: Signer;
}

/**
 * Designs the request that tells the recipes apart with the fewest changes: again and again the change that teaches
 * most. Null where none does.
 */
export function designSample(
  request: SignableRequest,
  fits: readonly (Weighed & { readonly recipe: Recipe })[],
  secret: Secret,
): NextSample | null {
  const contenders = fits
    .slice(0, considered)
    .map(({ recipe, bits }): Contender => ({ signer: compileRecipe(recipe), bits }));
  const changes: string[] = [];
  let open = twistsFor(request);
  let best = judge(request, contenders, secret);
  while (best.groups < contenders.length) {
    const next = mostTelling(open, best.request, contenders, secret);
    if (next === null || next.parting.taught <= best.taught + leastTaught) break;
    changes.push(next.twist.say);
    open = open.filter((twist) => twist !== next.twist);
    best = next.parting;
  }
  if (changes.length === 0) return null;
  return { request: best.request, changes, groups: best.groups, of: contenders.length };
}

/** What teaches no more than this is not worth asking for. */
const leastTaught = 1e-6;

/** How a request parts the recipes. */
interface Parting {
  readonly request: SignableRequest;
  readonly groups: number;
  /** What its signature would teach, in bits: the entropy of the groups. */
  readonly taught: number;
}

function mostTelling(
  twists: readonly Twist[],
  from: SignableRequest,
  contenders: readonly Contender[],
  secret: Secret,
) {
  let most: { twist: Twist; parting: Parting } | null = null;
  for (const twist of twists) {
    const parting = judge(twist.apply(from), contenders, secret);
    if (most === null || parting.taught > most.parting.taught + leastTaught) most = { twist, parting };
  }
  return most;
}

function judge(request: SignableRequest, contenders: readonly Contender[], secret: Secret): Parting {
  const groups = new Map<string, number>();
  let sum = 0;
  for (const { signer, bits } of contenders) {
    const { digest } = signer.sign(request, secret);
    const weight = weightOf(bits);
    groups.set(digest, (groups.get(digest) ?? 0) + weight);
    sum += weight;
  }
  let taught = 0;
  for (const weight of groups.values()) taught -= (weight / sum) * Math.log2(weight / sum);
  return { request, groups: groups.size, taught };
}

/** The likelier a recipe, the more it counts, but the others count as well. */
function weightOf(bits: number): number {
  return 2 ** (-bits / 4);
}
