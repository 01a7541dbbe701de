import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareRunsCancel } from './cancel.js';
import { declareRunsList } from './list.js';
import { declareRunsPurge } from './purge.js';
import { declareRunsResults } from './results.js';
import { declareRunsShow } from './show.js';

export function declareRuns(program: Command, context: CliContext): void {
  const runs = program
    .command('runs')
    .summary('look after runs over a queue')
    .description('See how runs over a queue go, get their results, end and remove them.');
  declareRunsList(runs, context);
  declareRunsShow(runs, context);
  declareRunsResults(runs, context);
  declareRunsCancel(runs, context);
  declareRunsPurge(runs, context);
}
