// Only "sign solve" loads it.

import type { SignatureName } from '../../../core/signing/app-signatures.js';
import type { Recipe, SigningRecipes } from '../../../core/signing/recipe.js';
import { formatRecipe } from '../../../core/signing/recipe-json.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { describeRecipe } from '../../../lab/describe-recipe.js';
import { doubtsOf } from '../../../lab/doubts.js';
import type { FoundPair } from '../../../lab/find-both.js';
import type { FoundRules } from '../../../lab/find-rules.js';
import type { RuleGroup } from '../../../lab/groups.js';
import { CheckFailedError } from '../../errors.js';
import { formatCount } from '../../output/numbers.js';

/** The result of a search for the rules of captured requests. */
export interface SolveReport {
  readonly rules: FoundPair;
  /** Number of captured requests. */
  readonly sampleCount: number;
  /** Duration in milliseconds. */
  readonly ms: number;
}

/** Ranks of the groups that are shown to a person; a program gets all. */
const shownRanks = ['1st', '2nd', '3rd', '4th'];

/** The signatures that the samples have, in the order of a request. */
function searched({ app_sign, sign }: FoundPair): (readonly [SignatureName, FoundRules])[] {
  if (app_sign === null) return [['sign', sign]];
  return [
    ['app_sign', app_sign],
    ['sign', sign],
  ];
}

/** The likeliest rule of each signature that has one. */
export function likeliestRules({ rules }: SolveReport): Partial<SigningRecipes> {
  const likeliest: Partial<Record<SignatureName, Recipe>> = {};
  for (const [name, { groups }] of searched(rules)) {
    const [first] = groups;
    if (first !== undefined) likeliest[name] = first.recipe;
  }
  return likeliest;
}

/** A report for programs; `signing` is that of a platform file. */
export function solveReportRecord(report: SolveReport): object {
  const { rules, ms } = report;
  const likeliest = Object.entries(likeliestRules(report));
  return {
    signing: Object.fromEntries(likeliest.map(([name, recipe]) => [name, formatRecipe(recipe)])),
    tried: triedIn(rules),
    seconds: ms / 1000,
    groups: Object.fromEntries(
      searched(rules).map(([name, { groups }]) => [name, groups.map(groupRecord)]),
    ),
    doubts: searched(rules).flatMap(([name, ofSignature]) =>
      doubtsIn(rules, name, ofSignature).map(({ says, settles, weight }) => ({
        signature: name,
        weight,
        says,
        settled_by: settles,
      })),
    ),
  };
}

function triedIn(rules: FoundPair): number {
  return searched(rules).reduce((sum, [, { tried }]) => sum + tried, 0);
}

function groupRecord({ weight, size, recipe, differsIn }: RuleGroup): object {
  return {
    weight,
    rules: size,
    recipe: formatRecipe(recipe),
    in_words: describeRecipe(recipe),
    differs_in: [...differsIn],
  };
}

/** One rule for both signatures has the same doubts, which are said once. */
function doubtsIn({ isOneRule }: FoundPair, name: SignatureName, { groups }: FoundRules) {
  if (isOneRule && name === 'app_sign') return [];
  return doubtsOf(groups);
}

/** Whether the samples leave a doubt of a rule that was found. */
export function hasDoubts({ rules }: SolveReport): boolean {
  return searched(rules).some(
    ([name, ofSignature]) => doubtsIn(rules, name, ofSignature).length > 0,
  );
}

/** A report for a person. */
export function showSolveReport({ rules, ms }: SolveReport): object {
  const shown = searched(rules).map(([name, ofSignature]) => [
    name,
    showRules(rules, name, ofSignature),
  ]);
  return {
    tried: `${formatCount(triedIn(rules))} digests in ${(ms / 1000).toFixed(1)} s`,
    ...Object.fromEntries(shown),
  };
}

function showRules(rules: FoundPair, name: SignatureName, ofSignature: FoundRules): object {
  const { groups } = ofSignature;
  const [first] = groups;
  if (first === undefined) return { 'rules that fit': 0 };
  const shown = groups
    .slice(0, shownRanks.length)
    .map(({ recipe, weight }, rank) => [
      shownRanks[rank],
      `${percent(weight)}: ${describeRecipe(recipe)}`,
    ]);
  if (groups.length > shown.length) {
    const more = groups.length - shown.length;
    shown.push(['others', `${more} rarer ones; --json lists them all`]);
  }
  const doubts = doubtsIn(rules, name, ofSignature).map(({ about, says, settles, weight }) => [
    `not sure: ${about}`,
    `${says} The 1st is right there with a probability of ${percent(1 - weight)}. ` +
      `${settles} settles it.`,
  ]);
  return {
    ...Object.fromEntries(shown),
    'the 1st as a recipe': JSON.stringify(formatRecipe(first.recipe)),
    ...Object.fromEntries(doubts),
  };
}

function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 0) return 'less than 1 %';
  if (rounded === 100 && share < 1) return 'more than 99 %';
  return `${rounded} %`;
}

/** The error for a signature without a rule, with what to do about it; `null` if each has one. */
export function solveFault(
  { rules, sampleCount }: SolveReport,
  profile = 'shop',
): CheckFailedError | null {
  for (const [name, { groups, tried, isDivided }] of searched(rules)) {
    if (groups.length > 0) continue;
    if (isDivided) {
      const message =
        `no rule found for ${name}: ` +
        `one of the ${sampleCount} samples has rules, but none fits all`;
      return new CheckFailedError(message, {
        hint: 'Check that all were signed by the same rule, with the given secret.',
      });
    }
    return new CheckFailedError(
      `no rule found for ${name}: ${formatCount(tried)} digests were tried`,
      {
        hint: notFoundHint,
        commands: [
          'userinfo sign explain --recipe rule.json --sample request.txt',
          `userinfo profile set ${quoteWhereNeeded(profile)} --signing-module ./my-signer.mjs`,
        ],
      },
    );
  }
  return null;
}

const notFoundHint = [
  'Check the secret, and that the request is as it was signed: all parameters, raw and in order. ' +
    'A second --sample helps, best a plain read.',
  'Write what the document says as a --recipe, with "?" for what it leaves open. ' +
    'Ask the operator for the digest, the order, the separators, the place of the secret, ' +
    'and what is left out.',
  'To compare a rule that you wrote by hand (docs/signing.md has the language), ' +
    'or sign by a module:',
].join('\n');
