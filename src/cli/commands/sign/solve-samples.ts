import { availableParallelism } from 'node:os';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Sample } from '../../../signing/request.js';
import type { SolveTask } from '../../../solve/candidates/search-space.js';
import { type SignedSample, solve, tasksForAppSign, tasksForSign } from '../../../solve/solve.js';
import type { CliContext } from '../../context.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, type OutputStyle } from '../../output/style.js';
import { secretInForce } from '../../resolve-signing.js';
import { searchOnThreads } from '../../solve/search-threads.js';
import { type FoundRecipes, type SaveTarget, saveSigning } from './save-signing.js';
import type { SolveOptions } from './solve.js';
import { withSolveProgress } from './solve-progress.js';
import { faultOf, reportRecord, type SolveReport, showReport } from './solve-report.js';

/** Finds the rules, prints them, and saves the likeliest. Throws a CheckFailedError where nothing fits. */
export async function solveSamples(
  context: CliContext,
  samples: readonly Sample[],
  options: SolveOptions,
  style: OutputStyle,
  target: SaveTarget | null,
): Promise<void> {
  const { io } = context;
  const signed: SignedSample[] = [];
  for (const sample of samples) {
    signed.push({ sample, secret: await secretInForce(context, options, sample.secret) });
  }
  const report = await search(context, signed, options);
  await printData(isPlainTable(style) ? showReport(report) : reportRecord(report), io, style);
  if (target !== null) await saveSigning(context, target, likeliest(report));
  const fault = faultOf(report);
  if (fault !== null) throw fault;
}

/** `app_sign` first, in half of the time at the most; then the signature itself. */
async function search(
  context: CliContext,
  signed: readonly SignedSample[],
  { maxTime, jobs = availableParallelism() }: SolveOptions,
): Promise<SolveReport> {
  const { now, signal } = context;
  const tasks = tasksForSign(signed);
  const appTasks = tasksForAppSign(signed);
  const startedAt = now();
  const pause = async () => {
    await yieldToOthers();
    signal.throwIfAborted();
  };
  return withSolveProgress(context, async (onProgress) => {
    const solveBy = (end: number, of: readonly SolveTask[]) =>
      solve(of, searchOnThreads({ jobs, signal, timeLeft: () => end - now(), onProgress }), pause);
    const appSign = appTasks && (await solveBy(startedAt + maxTime / 2, appTasks));
    const sign = await solveBy(startedAt + maxTime, tasks);
    return {
      name: signed[0]?.sample.signParam ?? 'sign',
      samples: signed,
      sign,
      appSign,
      ms: now() - startedAt,
    };
  });
}

function likeliest({ name, sign, appSign }: SolveReport): FoundRecipes {
  const app_sign = (name === 'app_sign' ? sign : appSign)?.fits[0]?.recipe;
  const own = name === 'app_sign' ? undefined : sign.fits[0]?.recipe;
  return { ...(app_sign && { app_sign }), ...(own && { sign: own }) };
}
