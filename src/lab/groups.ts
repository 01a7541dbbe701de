import type { SignatureName } from '../core/signing/app-signatures.js';
import { compileRecipe } from '../core/signing/compile-recipe.js';
import { type Recipe, unlessRefused } from '../core/signing/recipe.js';
import { type LaterKind, type LaterRequest, laterRequests } from './later-requests.js';
import { RequestTexts } from './request-texts.js';
import type { Rated } from './rule-parts/rarity.js';
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

/** A recipe, and how usual it is. */
export interface RatedRecipe extends Rated {
  readonly recipe: Recipe;
}

/** A rule with its signatures of the later requests; `null` where it cannot sign one. */
interface SigningRule extends Rated {
  readonly recipe: () => Recipe;
  readonly signatures: readonly (string | null)[];
}

/** Groups rules that are sorted by their bits; the likeliest group first. */
export function groupRules(
  signature: SignatureName,
  sorted: readonly Rule[],
  { request, secret }: SignedSample,
): RuleGroup[] {
  const later = laterRequests(signature, request);
  const signers = later.map(
    (laterRequest) => new RequestSignatures(new RequestTexts(laterRequest.request, secret)),
  );
  const rules = sorted.map((rule) => ({
    bits: rule.bits,
    recipe: () => recipeOf(rule),
    signatures: signers.map((signer) => signer.of(rule)),
  }));
  return groupBySignatures(rules, later);
}

/** Groups recipes that are sorted by their bits; the likeliest group first. */
export function groupRecipes(
  signature: SignatureName,
  sorted: readonly RatedRecipe[],
  { request, secret }: SignedSample,
): RuleGroup[] {
  const later = laterRequests(signature, request);
  const rules = sorted.map(({ recipe, bits }) => {
    const signer = compileRecipe(recipe);
    const signatures = later.map((laterRequest) =>
      unlessRefused(() => signer.sign(laterRequest.request, secret).digest),
    );
    return { bits, recipe: () => recipe, signatures };
  });
  return groupBySignatures(rules, later);
}

function groupBySignatures(
  sorted: Iterable<SigningRule>,
  later: readonly LaterRequest[],
): RuleGroup[] {
  const groups = new Map<string, { weight: number; readonly first: SigningRule; size: number }>();
  let sum = 0;
  for (const rule of sorted) {
    const key = rule.signatures.join('\n');
    const weight = 2 ** -rule.bits;
    sum += weight;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { weight, first: rule, size: 1 });
    else {
      group.weight += weight;
      group.size += 1;
    }
  }
  const byWeight = [...groups.values()].sort((a, b) => b.weight - a.weight);
  const likeliest = byWeight[0]?.first.signatures ?? [];
  return byWeight.map(({ weight, first, size }) => ({
    weight: weight / sum,
    recipe: first.recipe(),
    size,
    differsIn: new Set(
      later.flatMap(({ kind }, index) =>
        first.signatures[index] === likeliest[index] ? [] : [kind],
      ),
    ),
  }));
}

/** The only group: a rule that is known. */
export function onlyRule(recipe: Recipe): RuleGroup {
  return { weight: 1, recipe, size: 1, differsIn: new Set() };
}
