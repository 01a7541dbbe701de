import { formatRecipe } from '../../../core/signing/recipe-json.js';
import type { SignableRequest } from '../../../core/signing/request.js';
import type { Secret } from '../../../core/signing/secret.js';
import { formatCount } from '../../../core/support/count.js';
import type { UserInfoErrorOptions } from '../../../core/support/errors.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { describeRecipe } from '../../../lab/describe-recipe.js';
import { maxBits } from '../../../lab/solve/search/shares.js';
import type { Solution } from '../../../lab/solve/solve.js';
import type { SignedSample } from '../../../lab/solve/tasks.js';
import { CheckFailedError } from '../../report-error.js';

/** The result of a search for the recipes of signed samples. */
export interface SolveReport {
  /** The parameter with the signature. */
  readonly name: string;
  readonly samples: readonly SignedSample[];
  readonly sign: Solution;
  /** For `app_sign`, if the signature covers one; otherwise null. */
  readonly appSign: Solution | null;
  /** Duration of all, in milliseconds. */
  readonly ms: number;
  /**
   * The share of the machine, of all its threads, that the search had: 1 on a machine that does
   * nothing else.
   */
  readonly cpuShare: number;
}

/** Ranks of the fits shown to a person; a program gets all fits. */
const shownRanks = ['1st', '2nd', '3rd', '4th'];

/** A report for programs. */
export function solveReportRecord({
  name,
  samples,
  sign,
  appSign,
  ms,
  cpuShare,
}: SolveReport): object {
  const secret = samples[0]?.secret;
  const appRecipe = appSign?.fits[0]?.recipe;
  const app_sign = appRecipe && { app_sign: formatRecipe(appRecipe) };
  const { tried, fits, ...end } = solutionRecord(sign, name, secret);
  return {
    tried: tried + (appSign?.tried ?? 0),
    seconds: ms / 1000,
    machine_share: Math.round(cpuShare * 100) / 100,
    fits: fits.map((fit) => ({ ...fit, ...app_sign })),
    ...end,
    ...(appSign && { app_sign: solutionRecord(appSign, 'app_sign', secret) }),
  };
}

function solutionRecord(
  { tried, fits, bits, isComplete, isCutShort, groups, next, ruledOut }: Solution,
  name: string,
  secret: Secret | undefined,
) {
  return {
    tried,
    fits: fits.map((fit, index) => ({
      rank: index + 1,
      why: whyOf(fit, fits[0] ?? fit),
      recipe: formatRecipe(fit.recipe),
    })),
    covered_bits: bits,
    complete: isComplete,
    all_listed: !isCutShort,
    ruled_out: ruledOut,
    differences: groups,
    next_sample: next && {
      changes: next.changes,
      tells_apart: next.groups,
      candidates: next.candidates,
      sample: { ...sampleRecord(next.request, secret), signParam: name, signature: null },
    },
  };
}

type Fit = Solution['fits'][number];

/** Why a recipe has its rank: what it does, and how likely it is. */
function whyOf(fit: Fit, first: Fit): string {
  const words = describeRecipe(fit.recipe);
  if (fit === first)
    return `the likeliest (about 1 in ${count(2 ** fit.bits)} documented rules): ${words}`;
  const times = 2 ** (fit.bits - first.bits);
  return `${times < 1.5 ? 'about as likely as the first' : `${count(times)} times rarer than the first`}: ${words}`;
}

function count(times: number): string {
  return times < 10 ? times.toFixed(1) : formatCount(Math.round(times));
}

/** A request in the form of a sample file, with the secret replaced wherever it occurs. */
function sampleRecord(
  { method, url, params, body, extra }: SignableRequest,
  secret: Secret | undefined,
) {
  const text = secret?.reveal() ?? '';
  const hide = (value: string) => (text !== '' && value.includes(text) ? 'secret' : value);
  return {
    method,
    url,
    params: params.map(([name, value]) => [name, hide(value)]),
    body: body === null ? null : hide(body),
    extra: Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, hide(value)])),
  };
}

/** A report for a person. */
export function showSolveReport({ name, samples, sign, appSign, ms }: SolveReport): object {
  const tried = sign.tried + (appSign?.tried ?? 0);
  return {
    tried: `${formatCount(tried)} recipes in ${(ms / 1000).toFixed(1)} s`,
    ...(appSign && { app_sign: showSolution(appSign, samples.length) }),
    [name]: showSolution(sign, samples.length),
  };
}

function showSolution(
  { fits, groups, next, ruledOut, isCutShort }: Solution,
  samples: number,
): object {
  const [first] = fits;
  const shown = fits
    .slice(0, shownRanks.length)
    .map((fit, rank) => [shownRanks[rank], whyOf(fit, first ?? fit)]);
  const more = fits.length - shown.length;
  return {
    'recipes that fit': isCutShort
      ? `${fits.length}, and others: the time was over (--max-time)`
      : fits.length,
    ...Object.fromEntries(shown),
    ...(more > 0 && { others: `${more} rarer ones; --json lists them all` }),
    ...(first && { 'the 1st as a recipe': JSON.stringify(formatRecipe(first.recipe)) }),
    ...(samples > 1 &&
      ruledOut === 0 &&
      fits.length > 1 && {
        'other samples': 'they decide nothing: what fits one of them fits all',
      }),
    ...(groups.length > 0 && { 'differ from the 1st': groups.map(showGroup).join('; ') }),
    ...(next && { 'to tell them apart': showNext(next) }),
  };
}

function showGroup({ change, ranks }: Solution['groups'][number]): string {
  return `${ranks.length} ${change === null ? 'in what no such request shows' : `if you ${change}`}`;
}

function showNext({ changes, groups, candidates }: NonNullable<Solution['next']>): string {
  const result =
    groups === candidates
      ? `distinguishes all ${candidates}`
      : `divides the ${candidates} into ${groups} groups`;
  return `get the signature of a request like this one, but ${changes.join('; ')}. It ${result}`;
}

/**
 * The error for a signature without a recipe, with what to ask the operator for, and what to do
 * with `profile`; null if each signature has one.
 */
export function solveFault(
  { name, samples, sign, appSign, ms, cpuShare }: SolveReport,
  profile = 'shop',
): CheckFailedError | null {
  for (const [signature, solution] of [
    ['app_sign', appSign],
    [name, sign],
  ] as const) {
    if (solution === null || solution.fits.length > 0) continue;
    return new CheckFailedError(
      `no recipe found for ${signature}: ${whatWasTried(solution, samples.length)}`,
      whatToDo(solution, cpuShare < 0.5 ? `${busyWords(ms, cpuShare)} ` : '', profile),
    );
  }
  return null;
}

/** Below this, no band of the search was completed. */
const minBits = 5;

function busyWords(ms: number, cpuShare: number): string {
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  return `This machine gave the search ${seconds(ms * cpuShare)} of ${seconds(ms)} s: it is busy with other things.`;
}

function whatWasTried({ isDivided, bits, tried }: Solution, samples: number): string {
  if (isDivided) return `one of the ${samples} samples has recipes, but none of them fits all`;
  const covered =
    bits >= maxBits
      ? 'all that exist'
      : bits < minBits
        ? 'hardly any of those that exist'
        : `all that are as likely as 1 in ${count(2 ** bits)} documented rules`;
  return `${formatCount(tried)} were tried, ${covered}`;
}

function whatToDo(
  { isDivided, isComplete }: Solution,
  busy: string,
  profile: string,
): Pick<UserInfoErrorOptions, 'hint' | 'commands'> {
  if (isDivided)
    return { hint: 'Check that all were signed by the same rule, with the given secret.' };
  const hint = [
    `${busy}${isComplete ? '' : 'Allow more time with --max-time. '}Check the secret, and that the request is as it was signed: ` +
      'all parameters, raw and in order, and the signed headers. A second --sample helps, best one with few parameters.',
    'Say what the document says: --steps, --join, --headers, --constant; the search then goes deeper. Ask the operator ' +
      'for digest, order, separators, place of the secret, and what is left out.',
    'To compare a rule that you wrote by hand (docs/signing.md has the language), or sign by a module:',
  ].join('\n');
  return {
    hint,
    commands: [
      'userinfo sign explain --recipe rule.json --sample request.txt',
      `userinfo profile set ${quoteWhereNeeded(profile)} --signing-module ./my-signer.mjs`,
    ],
  };
}
