import { InvalidInputError } from '../../../core/contract/errors.js';
import { printAdvice, printMessage } from '../../io.js';
import type { EndedRun } from './ended-run.js';
import { errorOf } from './next-step.js';
import { totalOf } from './row-count.js';
import { formatCommand } from './run-command.js';
import { formatSummary, summaryData } from './summary.js';

/** Prints the end of a run; returns its error, `null` if every row is ok. */
export async function reportRun(run: EndedRun): Promise<Error | null> {
  const { isTable, print, paths } = run;
  if (!run.options.quiet && !isWithoutRows(run)) await printSummary(run);
  if (!isTable && paths !== null) await print(summaryData(run, paths));
  return errorOf(run);
}

/** Whether an input has no row: its error says so. A part of a small file may have none. */
function isWithoutRows({ options, report }: EndedRun): boolean {
  return report.isFinished && totalOf(report.counts) === 0 && options.part === undefined;
}

async function printSummary(run: EndedRun): Promise<void> {
  const { io, report, paths } = run;
  for (const line of formatSummary(run)) await printMessage(io, line);
  const isUnusable = report.stoppedBy instanceof InvalidInputError && report.done === 0;
  if (paths === null || report.isFinished || isUnusable) return;
  await printAdvice(io, { hint: 'resume with:', commands: [formatCommand(run, ['--resume'])] });
}
