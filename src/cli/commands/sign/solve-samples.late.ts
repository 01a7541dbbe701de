import { availableParallelism } from 'node:os';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type SigningChoice, signaturesOf } from '../../../core/signing/app-signatures.js';
import type { SigningRecipes } from '../../../core/signing/recipe.js';
import { paramOf, type Sample } from '../../../core/signing/request.js';
import { UserInfoError } from '../../../core/support/errors.js';
import { solve, TimeOver } from '../../../lab/solve/solve.js';
import {
  type SignedSample,
  type SolveTask,
  tasksForAppSign,
  tasksForSign,
} from '../../../lab/solve/tasks.js';
import type { Call, CliContext } from '../../command.js';
import { printAdvice, printMessage, readJson } from '../../io.js';
import { withProgress } from '../../output/progress.js';
import { CheckFailedError } from '../../report-error.js';
import { saveSigners, selectRule, selectSecret } from '../../request/resolve-signing.js';
import { searchOnThreads } from './search-threads.js';
import {
  type SolveReport,
  showSolveReport,
  solveFault,
  solveReportRecord,
} from './solve-report.js';

export interface SolveOptions {
  readonly sample?: readonly string[];
  /** Numbers of the requests to take from a text with several, from 1. */
  readonly pick?: readonly number[];
  /** What a document says: a file with a recipe with "?" in it. */
  readonly recipe?: string;
  /** Digests, the text between the parts, headers in order, texts that are signed as they stand. */
  readonly steps?: readonly string[];
  readonly join?: string;
  readonly headers?: readonly string[];
  readonly constant?: readonly string[];
  /** Milliseconds. */
  readonly maxTime: number;
  /** Number of threads; one per core by default. */
  readonly jobs?: number;
  /** Name of the profile that receives the recipes. */
  readonly save?: string;
}

/**
 * Searches the recipes, prints them and saves the likeliest.
 *
 * @throws CheckFailedError if no recipe fits, ProfileError if there is no such profile, before the
 * search
 */
export async function solveSamples(
  { context, io, options, isTable, print }: Call<SolveOptions>,
  samples: readonly Sample[],
): Promise<void> {
  const { save } = options;
  // Fails before the search if there is no such profile.
  if (save !== undefined) await context.profiles.get(save);
  const signed: SignedSample[] = [];
  for (const sample of samples) {
    signed.push({ ...sample, secret: await selectSecret(context, options, sample.secret) });
  }
  await checkOwnRule(context, options, signed);
  const report = await searchRules(context, signed, options);
  await print(isTable ? showSolveReport(report) : solveReportRecord(report));
  const found = likeliest(report);
  const names = Object.keys(found);
  if (save !== undefined && names.length > 0) {
    await saveSigners(context, save, found);
    await printMessage(io, `saved in profile "${save}": ${names.join(' and ')}`);
    if (isAmbiguous(report)) {
      await printMessage(
        io,
        'More than one rule fits. If requests are refused: add a --sample, a second request.',
      );
    }
  }
  const fault = solveFault(report, options.profile ?? save);
  if (fault !== null) throw fault;
  if (!isTable) return;
  const rule = save === undefined ? '--recipe -' : `-p ${save}`;
  const hint =
    save === undefined ? 'As source code, pipe the output of --json into:' : 'As source code:';
  await printAdvice(io, { hint, commands: [`userinfo sign export --lang python ${rule}`] });
}

/**
 * Requests that the present rule signs prove nothing about the platform's: a person who was refused
 * may have taken their own request.
 *
 * @throws CheckFailedError if the profile to save into has that rule already
 */
async function checkOwnRule(
  context: CliContext,
  { save, recipe, ...options }: Call<SolveOptions>['options'],
  samples: readonly SignedSample[],
): Promise<void> {
  const own = await selectRule(
    context,
    save === undefined ? options : { ...options, profile: save },
  ).catch((error: unknown) => {
    // A module that cannot be loaded signs nothing.
    if (error instanceof UserInfoError) return null;
    throw error;
  });
  if (own === null) return;
  const isOwn = samples.map((sample) => signsAll(own.signing, sample));
  if (!isOwn.includes(true)) return;
  const which = isOwn.includes(false) ? `request ${isOwn.indexOf(true) + 1} is` : 'this is';
  const whose =
    save === undefined ? `by ${own.from}` : `by the rule that profile "${save}" already has`;
  const advice =
    'If the platform refused it, its rule is another one: take one that the platform accepted.';
  if (save !== undefined && !isOwn.includes(false)) {
    throw new CheckFailedError(`${which} signed ${whose}: nothing was saved`, { hint: advice });
  }
  await printMessage(context.io, `${which} signed ${whose}. ${advice}`);
}

/** Whether a rule gives every signature that a sample has. */
function signsAll(signing: SigningChoice, sample: SignedSample): boolean {
  const signatures = signaturesOf(signing, sample, sample.signParam);
  const received = signatures.map(({ name }) =>
    name === sample.signParam ? sample.signature : paramOf(sample, name),
  );
  return signatures.every(({ signer, request }, index) => {
    try {
      return signer.sign(request, sample.secret).digest === received[index];
    } catch (error) {
      if (error instanceof UserInfoError) return false;
      throw error;
    }
  });
}

/** The time that a search may take, as a multiple of the machine's time that it may use. */
const maxWaiting = 3;

/** Searches `app_sign` first, for at most half of the time, then the signature itself. */
export async function searchRules(
  context: CliContext,
  signed: readonly SignedSample[],
  options: Pick<
    SolveOptions,
    'maxTime' | 'jobs' | 'recipe' | 'steps' | 'join' | 'headers' | 'constant'
  >,
): Promise<SolveReport> {
  const { io, signal } = context;
  const {
    maxTime,
    jobs = availableParallelism(),
    steps,
    join,
    headers,
    constant: constants,
  } = options;
  const recipe = options.recipe === undefined ? undefined : await readJson(context, options.recipe);
  const hints = { recipe, steps, join, headers, constants };
  const tasks = tasksForSign(signed, hints);
  const appTasks = tasksForAppSign(signed);
  const startedAt = Date.now();
  const cpuAt = process.cpuUsage();
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(cpuAt);
    return (user + system) / 1000;
  };
  let tried = 0;
  const onProgress = (count: number) => {
    tried = count;
  };
  const progressNow = () => {
    const share = Math.min(1, cpuMs() / jobs / maxTime);
    return { doing: 'searching', unit: 'recipes', rows: tried, share, total: null };
  };
  return withProgress(io, { quiet: !io.stderr.isTTY }, progressNow, async () => {
    const solveBy = async (share: number, wanted: readonly SolveTask[]) => {
      // Work counts, not time: a busy machine gets up to three times as long.
      const timeLeft = () =>
        Math.min(
          maxTime * share - cpuMs() / jobs,
          startedAt + maxWaiting * maxTime * share - Date.now(),
        );
      const search = searchOnThreads({ jobs, signal, timeLeft, onProgress });
      const pause = async () => {
        await yieldToOthers();
        signal.throwIfAborted();
        if (timeLeft() <= 0) throw new TimeOver();
      };
      return solve(wanted, search, pause, wanted === tasks ? hints : {});
    };
    const appSign = appTasks && (await solveBy(1 / 2, appTasks));
    const sign = await solveBy(1, tasks);
    const name = signed[0]?.signParam ?? 'sign';
    const ms = Date.now() - startedAt;
    return { name, samples: signed, sign, appSign, ms, cpuShare: cpuMs() / Math.max(1, ms) / jobs };
  });
}

/** The likeliest rule of each signature. */
export function likeliest({ name, sign, appSign }: SolveReport): Partial<SigningRecipes> {
  const app_sign = (name === 'app_sign' ? sign : appSign)?.fits[0]?.recipe;
  const own = name === 'app_sign' ? undefined : sign.fits[0]?.recipe;
  return { ...(app_sign && { app_sign }), ...(own && { sign: own }) };
}

/** Whether another rule may be the right one: it fits all samples, too, or it was not listed. */
export function isAmbiguous({ sign, appSign }: SolveReport): boolean {
  return [sign, appSign].some(
    (solution) => solution && (solution.fits.length > 1 || solution.isCutShort),
  );
}
