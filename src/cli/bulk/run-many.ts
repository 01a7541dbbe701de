import { AppendFile, streamSink } from '../../bulk/files/append-file.js';
import { requireOurs } from '../../bulk/files/failed-file.js';
import type { RunIdentity } from '../../bulk/files/journal-records.js';
import { JournalState } from '../../bulk/files/journal-state.js';
import {
  lockFiles,
  RunFiles,
  type RunPaths,
  type RunStart,
  requireResults,
} from '../../bulk/files/run-files.js';
import type { RowOperation } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import type { Preflight } from '../../bulk/source/preflight.js';
import type { Settings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteWhereNeeded } from '../../support/shell.js';
import { resolveService } from '../connect.js';
import type { CliContext } from '../context.js';
import { say } from '../io.js';
import { showData } from '../output/terminal-text.js';
import type { BulkOptions } from './bulk-options.js';
import { confirmMany } from './confirm-production.js';
import { type BulkRun, executeRun } from './execute-run.js';
import { checkRows } from './preflight.js';
import { type CellOptions, openRows } from './row-source.js';
import { pathsOf, refuseSame } from './run-paths.js';
import { formatRows } from './summary.js';

/** The operation of a run over many rows. */
export interface ManyPlan {
  readonly operation: RowOperation;
  readonly cells: CellOptions;
  /** What must be the same when the run is resumed. */
  readonly identity: RunIdentity;
  /** Warns of names of values that are probably mistakes. */
  readonly checkNames: (names: ReadonlySet<string>, settings: Settings) => Promise<void>;
}

interface ManyRun extends BulkRun {
  readonly plan: ManyPlan;
}

/**
 * Sends the rows that `--from` names.
 *
 * @throws FailedRowsError if a row is not ok at the end, and what stopped the run
 */
export async function runMany(context: CliContext, options: BulkOptions, plan: ManyPlan): Promise<void> {
  if (options.dryRun && !options.preflight) {
    throw new InvalidInputError('--dry-run checks the rows, --no-preflight does not: use one of them');
  }
  const settings = await resolveService(context, options);
  const source = await openRows(context.io, options, plan.cells, plan.operation.columns);
  try {
    const run = { context, options, plan, settings, source };
    await (source.input.size === null ? runStream(run) : runFile(run));
  } finally {
    await source.input.close();
  }
}

async function runFile(run: ManyRun): Promise<void> {
  const { options, plan } = run;
  const paths = pathsOf(options);
  if (options.dryRun) return sayDryRun(run, (await checkFile(run)).rows ?? 0);
  const start: RunStart = options.resume ? 'resume' : options.restart ? 'restart' : 'new';
  const files = await RunFiles.claim(paths, start, plan.operation.name);
  try {
    await runClaimed(run, files, paths);
  } finally {
    files.release();
  }
}

async function checkFile({ context, options, plan, settings, source }: ManyRun): Promise<Preflight> {
  const checked = await checkRows(context, options, source, plan.operation);
  await plan.checkNames(checked.names, settings);
  return checked;
}

async function runClaimed(run: ManyRun, files: RunFiles, paths: RunPaths): Promise<void> {
  const { context, plan, settings, source } = run;
  const { rows, hash, digest } = await checkFile(run);
  await confirm(run, rows === null ? 'all rows' : formatRows(rows));
  const identity = {
    'input file': `${source.input.size} bytes, SHA-256 ${hash}`,
    ...source.identity,
    ...plan.identity,
    operation: plan.operation.name,
    'base URL': settings.base_url.value,
    'tenant code': settings.tenant_code.value,
    channel: settings.channel.value,
    'app key': settings.app_key.value,
  };
  const { results, journal, failed, before, note } = await files.open(identity);
  if (note !== null) await say(context.io, note);
  const record = { results, journal, failed, state: before, paths };
  const checked = { ...source, input: checkedInput(source.input, digest) };
  const resume = resumeCommand(context.args);
  await executeRun({ ...run, source: checked, record, total: rows, resume });
}

/** The command line that resumes a run which was started with `args`. */
function resumeCommand(args: readonly string[]): string {
  const kept = args.filter((arg) => arg !== '--restart' && arg !== '--resume');
  return ['userinfo', ...kept, '--resume'].map(quoteWhereNeeded).join(' ');
}

async function runStream(run: ManyRun): Promise<void> {
  const { context, options, plan, source } = run;
  const lost = (['resume', 'restart', 'journal'] as const).find((name) => options[name] !== undefined);
  if (lost !== undefined) {
    throw new InvalidInputError(`a run over a stream cannot be resumed: leave --${lost} out`, {
      hint: 'Save the rows to a file first; then a run can be stopped at any time.',
    });
  }
  if (options.dryRun) {
    return sayDryRun(run, (await checkRows(context, options, source, plan.operation)).rows ?? 0);
  }
  const { results, failed } = options;
  refuseSame({ ...(results && { '--results': results }), ...(failed && { '--failed': failed }) });
  const release = await lockFiles([results, failed].filter((path) => path !== undefined));
  try {
    if (results !== undefined) await requireResults(results);
    const failedPlace = failed === undefined ? null : { path: failed, ours: [] };
    if (failedPlace !== null) requireOurs(failedPlace);
    await confirm(run, 'the rows of a stream');
    const { stdout } = context.io;
    const record = {
      results:
        results === undefined
          ? streamSink(stdout, stdout.isTTY ? showData : undefined)
          : AppendFile.open(results),
      journal: null,
      failed: failedPlace,
      state: new JournalState(),
      paths: null,
    };
    await executeRun({ ...run, record, total: null, resume: null });
  } finally {
    release();
  }
}

/** Asks for confirmation before a write to production. */
async function confirm({ context, options, plan, settings }: ManyRun, rows: string): Promise<void> {
  if (plan.operation.name === 'passback') await confirmMany(context, settings, rows, options.yes);
}

/** Describes what a run would do. */
export async function sayDryRun(
  { context, plan, settings }: Pick<BulkRun, 'context' | 'plan' | 'settings'>,
  rows: number,
): Promise<void> {
  const where = `${new URL(settings.base_url.value).host}, ${settings.environment.value}`;
  await say(context.io, `dry run: ${plan.operation.name} of ${formatRows(rows)} would go to ${where}`);
}
