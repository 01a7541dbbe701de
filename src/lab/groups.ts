import type { Recipe } from '../core/signing/recipe.js';
import type { SignatureName } from './contract.js';
import { type LaterKind, laterRequests } from './later-requests.js';
import { RequestTexts } from './request-texts.js';
import { RequestSignatures, type Rule, recipeOf } from './rules.js';
import type { SignedSample } from './sample.js';

/** Rules that sign every request alike that userinfo sends. */
export interface RuleGroup {
  /** How likely it is that the right rule is among them: the weights of all groups add up to 1. */
  readonly weight: number;
  /** The most usual of them. */
  readonly recipe: Recipe;
  /** Number of rules. */
  readonly size: number;
  /** The kinds of later requests that it signs in another way than the likeliest group. */
  readonly differsIn: ReadonlySet<LaterKind>;
}

/** Groups rules that are sorted by their bits; the likeliest group first. */
export function groupRules(
  signature: SignatureName,
  sorted: readonly Rule[],
  sample: SignedSample,
): RuleGroup[] {
  const later = laterRequests(signature, sample.request).filter(({ isSent }) => isSent);
  const signers = later.map(
    ({ request }) => new RequestSignatures(new RequestTexts(request, sample.secret)),
  );
  const groups = new Map<
    string,
    {
      weight: number;
      readonly first: Rule;
      size: number;
      readonly signatures: readonly (string | null)[];
    }
  >();
  let sum = 0;
  for (const rule of sorted) {
    const signatures = signers.map((signer) => signer.of(rule));
    const key = signatures.join('\n');
    const weight = 2 ** -rule.bits;
    sum += weight;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { weight, first: rule, size: 1, signatures });
    else {
      group.weight += weight;
      group.size += 1;
    }
  }
  const byWeight = [...groups.values()].sort((a, b) => b.weight - a.weight);
  const [likeliest] = byWeight;
  return byWeight.map(({ weight, first, size, signatures }) => ({
    weight: weight / sum,
    recipe: recipeOf(first),
    size,
    differsIn: new Set(
      later.flatMap(({ kind }, index) =>
        signatures[index] === likeliest?.signatures[index] ? [] : [kind],
      ),
    ),
  }));
}
