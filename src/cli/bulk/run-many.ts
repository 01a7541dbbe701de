import { AppendFile } from '../../bulk/files/append-file.js';
import { JournalState } from '../../bulk/files/journal-state.js';
import { streamSink } from '../../bulk/files/results-sink.js';
import { checkRunFiles, openRunFiles, type RunStart } from '../../bulk/files/run-files.js';
import type { RunIdentity } from '../../bulk/files/run-identity.js';
import type { RowOperation } from '../../bulk/operations/row-operation.js';
import type { Settings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import type { CliContext } from '../context.js';
import { say } from '../io.js';
import { showData } from '../output/terminal-text.js';
import { resolveService } from '../resolve-service.js';
import type { BulkOptions } from './bulk-options.js';
import { carryOut } from './carry-out.js';
import { checkRows } from './check-rows.js';
import { goOnCommand } from './go-on-command.js';
import { confirmMany } from './guard.js';
import { type CellOptions, openRows, type RowSource } from './row-source.js';
import { pathsOf, refuseSame, resultsFrom } from './run-paths.js';
import { formatRows } from './words.js';

/** What is done with many rows. */
export interface ManyPlan {
  readonly operation: RowOperation;
  readonly cells: CellOptions;
  /** What of it has to be the same when a run is gone on with. */
  readonly identity: RunIdentity;
  /** Warns of names of values that should not be sent so. */
  readonly checkNames: (names: ReadonlySet<string>, settings: Settings) => Promise<void>;
}

interface Job {
  readonly context: CliContext;
  readonly options: BulkOptions;
  readonly plan: ManyPlan;
  readonly settings: Settings;
  readonly source: RowSource;
}

/** Does the rows that `--from` names. Throws where one of them is not ok at the end. */
export async function runMany(context: CliContext, options: BulkOptions, plan: ManyPlan): Promise<void> {
  if (options.dryRun && !options.preflight) {
    throw new InvalidInputError('--dry-run checks the rows, --no-preflight does not: use one of them');
  }
  const settings = await resolveService(context, options);
  const source = await openRows(context.io, options, plan.cells, plan.operation.columns);
  try {
    const job = { context, options, plan, settings, source };
    await (source.input.size === null ? runStream(job) : runFile(job));
  } finally {
    await source.input.close();
  }
}

async function runFile(job: Job): Promise<void> {
  const { context, options, plan, settings, source } = job;
  const paths = pathsOf(options);
  const start: RunStart = options.resume ? 'resume' : options.restart ? 'restart' : 'new';
  if (!options.dryRun) await checkRunFiles(paths, start);
  const { rows, hash, names } = await checkRows(context, options, source, plan.operation);
  await plan.checkNames(names, settings);
  if (options.dryRun) return sayDryRun(job, rows ?? 0);
  await guard(job, rows === null ? 'all rows' : formatRows(rows));
  const identity = {
    'input file': `${source.input.size} bytes, SHA-256 ${hash}`,
    ...source.identity,
    ...plan.identity,
    operation: plan.operation.task.operation,
    'base URL': settings.base_url.value,
    'tenant code': settings.tenant_code.value,
    channel: settings.channel.value,
    'app key': settings.app_key.value,
    'results file': resultsFrom(paths),
  };
  const { results, journal, before, note } = await openRunFiles(paths, start, identity);
  if (note !== null) await say(context.io, note);
  const record = { results, journal, state: before, paths };
  await carryOut({ ...job, record, total: rows, goOn: goOnCommand(context.args) });
}

async function runStream(job: Job): Promise<void> {
  const { context, options, plan, source } = job;
  const lost = (['resume', 'restart', 'journal'] as const).find((name) => options[name] !== undefined);
  if (lost !== undefined) {
    throw new InvalidInputError(`a run over a stream cannot be gone on with: leave --${lost} out`, {
      hint: 'Save the rows to a file first; then a run can be stopped at any time.',
    });
  }
  if (options.dryRun) {
    return sayDryRun(job, (await checkRows(context, options, source, plan.operation)).rows ?? 0);
  }
  const { results, failed } = options;
  refuseSame({ ...(results && { '--results': results }), ...(failed && { '--failed': failed }) });
  await guard(job, 'the rows of a stream');
  const { stdout } = context.io;
  const record = {
    results:
      results === undefined
        ? streamSink(stdout, stdout.isTTY ? showData : undefined)
        : new AppendFile(results, 0),
    journal: null,
    state: new JournalState(),
    paths: null,
  };
  await carryOut({ ...job, record, total: null, goOn: null });
}

/** What writes to production asks first; a read does not. */
async function guard({ context, options, plan, settings }: Job, rows: string): Promise<void> {
  if (plan.operation.task.operation === 'passback') await confirmMany(context, settings, rows, options.yes);
}

/** What a run would do. */
export async function sayDryRun(
  { context, plan, settings }: Pick<Job, 'context' | 'plan' | 'settings'>,
  rows: number,
): Promise<void> {
  const where = `${new URL(settings.base_url.value).host}, ${settings.environment.value}`;
  await say(
    context.io,
    `dry run: ${plan.operation.task.operation} of ${formatRows(rows)} would go to ${where}`,
  );
}
