// Apart from solve.ts: only the search loads this, not the help.

import { availableParallelism } from 'node:os';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { defaultPlatform } from '../../../platform/platform.js';
import { isModule, type SignerSources } from '../../../platform/signing-source.js';
import { findProfile, updateProfile } from '../../../profiles/profile-store.js';
import type { Sample } from '../../../signing/request.js';
import { solve } from '../../../solve/solve.js';
import { type SignedSample, type SolveTask, tasksForAppSign, tasksForSign } from '../../../solve/tasks.js';
import { formatCount } from '../../../support/count.js';
import type { Call } from '../../command.js';
import type { CliContext } from '../../context.js';
import { printAdvice, printMessage } from '../../io.js';
import { selectSecret } from '../../resolve-signing.js';
import { searchOnThreads } from '../../solve/search-threads.js';
import type { SolveOptions } from './solve.js';
import { type SolveReport, showSolveReport, solveFault, solveReportRecord } from './solve-report.js';

/**
 * Searches the recipes, prints them and saves the likeliest.
 *
 * @throws CheckFailedError if no recipe fits, ProfileError if there is no such profile, before the search
 */
export async function solveSamples(
  { context, io, options, isTable, print }: Call<SolveOptions>,
  samples: readonly Sample[],
): Promise<void> {
  const { profiles } = context;
  const { save } = options;
  // Fails before the search if there is no such profile.
  if (save !== undefined) await profiles.get(save);
  const signed: SignedSample[] = [];
  for (const sample of samples) {
    signed.push({ ...sample, secret: await selectSecret(context, options, sample.secret) });
  }
  const report = await search(context, signed, options);
  await print(isTable ? showSolveReport(report) : solveReportRecord(report));
  const found = likeliest(report);
  const names = Object.keys(found);
  if (save !== undefined && names.length > 0) {
    await profiles.change((list) => {
      const platform = findProfile(list, save).platform ?? defaultPlatform;
      const { signing } = platform;
      const sources = isModule(signing) ? { app_sign: signing, sign: signing } : signing;
      return updateProfile(list, save, { platform: { ...platform, signing: { ...sources, ...found } } });
    });
    await printMessage(io, `saved in profile "${save}": ${names.join(' and ')}`);
    if (isAmbiguous(report)) {
      await printMessage(
        io,
        'More than one rule fits. If requests are refused: add a --sample, a second request.',
      );
    }
  }
  const fault = solveFault(report);
  if (fault !== null) throw fault;
  if (!isTable) return;
  const rule = save === undefined ? '--recipe -' : `-p ${save}`;
  const hint = save === undefined ? 'As source code, pipe the output of --json into:' : 'As source code:';
  await printAdvice(io, { hint, commands: [`userinfo sign export --lang python ${rule}`] });
}

/** Searches `app_sign` first, for at most half of the time, then the signature itself. */
async function search(
  context: CliContext,
  signed: readonly SignedSample[],
  { maxTime, jobs = availableParallelism() }: SolveOptions,
): Promise<SolveReport> {
  const { signal } = context;
  const tasks = tasksForSign(signed);
  const appTasks = tasksForAppSign(signed);
  const startedAt = Date.now();
  const pause = async () => {
    await yieldToOthers();
    signal.throwIfAborted();
  };
  return withProgress(context, async (onProgress) => {
    const solveBy = (end: number, wanted: readonly SolveTask[]) =>
      solve(wanted, searchOnThreads({ jobs, signal, timeLeft: () => end - Date.now(), onProgress }), pause);
    const appSign = appTasks && (await solveBy(startedAt + maxTime / 2, appTasks));
    const sign = await solveBy(startedAt + maxTime, tasks);
    const name = signed[0]?.signParam ?? 'sign';
    return { name, samples: signed, sign, appSign, ms: Date.now() - startedAt };
  });
}

function likeliest({ name, sign, appSign }: SolveReport): Partial<SignerSources> {
  const app_sign = (name === 'app_sign' ? sign : appSign)?.fits[0]?.recipe;
  const own = name === 'app_sign' ? undefined : sign.fits[0]?.recipe;
  return { ...(app_sign && { app_sign }), ...(own && { sign: own }) };
}

/** Whether another rule may be the right one: it fits all samples, too. */
function isAmbiguous({ sign, appSign }: SolveReport): boolean {
  return Math.max(sign.fits.length, appSign?.fits.length ?? 0) > 1;
}

const lineMs = 150;

async function withProgress<T>(
  { io }: CliContext,
  work: (onProgress: (tried: number) => void) => Promise<T>,
): Promise<T> {
  const { stderr } = io;
  let tried = 0;
  const onProgress = (count: number) => {
    tried = count;
  };
  if (!stderr.isTTY) return work(onProgress);
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
    stderr.write(`\rsearching: ${formatCount(tried)} recipes tried, ${seconds} s\u001b[K`);
  }, lineMs);
  try {
    return await work(onProgress);
  } finally {
    clearInterval(timer);
    stderr.write('\r\u001b[K');
  }
}
