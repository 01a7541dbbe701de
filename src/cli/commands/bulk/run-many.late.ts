import { NoAnswerError, RejectedError } from '../../../client/call/errors.js';
import { showParameter } from '../../../client/call/hooks.js';
import type { PlainRequest } from '../../../client/call/request.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { parseInfoNames } from '../../../core/contract/info-names.js';
import { maskGivenName } from '../../../core/contract/masking.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { Invocation } from '../../command.js';
import { factsOf } from '../../command-line/options.js';
import { exitStatus } from '../../exit-status.js';
import { type ClosedOutput, printMessage } from '../../io.js';
import { withProgress } from '../../output/progress.js';
import { showData } from '../../output/terminal-text.js';
import {
  connectTo,
  describeProduction,
  listKeys,
  resolveDeployment,
} from '../../request/deployment.js';
import { confirmDoubts, warnOfDoubts } from '../../request/doubts.js';
import { explainFailure } from '../../request/explain-failure.late.js';
import { refuseMaskedReveal, revealAdvice } from '../../request/preview.js';
import { ColumnDoubts } from './column-doubts.js';
import { RunInputError } from './errors.js';
import { FileRun, type RunReport } from './file-run.js';
import { type ReplaceableFile, requireOurs } from './files/failed-file.js';
import { openResults, type RunRecord } from './files/recorder.js';
import { requireNoResults } from './files/refused-rows.js';
import { RunFiles, type RunPaths, type RunStart, refuseUnusable } from './files/run-files.js';
import { lockFiles } from './files/run-locks.js';
import { RunState } from './files/run-state.js';
import {
  passbackOperation,
  type RowOperation,
  readOperation,
  type UserNaming,
} from './operations.js';
import type { BulkOptions, BulkPassbackOptions, BulkReadOptions } from './options.js';
import { type CheckedFile, checkRows, runDoubts } from './preflight.js';
import { formatEmptyRows, formatRows, totalOf } from './row-count.js';
import { type BulkRun, openRows } from './row-source.js';
import { withCommand } from './run-command.js';
import { reportRun } from './run-report.js';
import { checkedInput } from './source/checked-input.js';
import { partName } from './source/part.js';

/** Reads with the code of each row of a file. */
export async function readMany(
  invocation: Invocation<BulkReadOptions>,
  file: string,
  names: readonly string[],
): Promise<void> {
  const infoNames = names.length === 0 ? [] : parseInfoNames(names);
  await runMany(invocation, file, readOperation(infoNames, invocation.options.scope), infoNames);
}

/** Passes back the values of each row of a file. */
export async function passbackMany(
  invocation: Invocation<BulkPassbackOptions>,
  file: string,
): Promise<void> {
  const { options } = invocation;
  await runMany(invocation, file, passbackOperation(userNaming(options), options.types));
}

/** The columns by which the rows of a passback name their users. */
function userNaming({ unionIdColumn, primaryKey }: BulkPassbackOptions): UserNaming {
  if (primaryKey === undefined) return { by: 'union_id', column: unionIdColumn ?? 'union_id' };
  if (unionIdColumn === undefined) return { by: 'primary_key', key: primaryKey };
  return { by: 'union_id', column: unionIdColumn, primaryKey };
}

/**
 * Opens a file, and calls `work`.
 *
 * @throws InvalidInputError, and what `work` throws
 */
async function withRows<T>(
  invocation: Invocation<BulkOptions>,
  file: string,
  operation: RowOperation,
  infoNames: readonly string[],
  work: (run: BulkRun) => Promise<T>,
): Promise<T> {
  const { context, io, options } = invocation;
  try {
    const settings = await resolveDeployment(context, options);
    const source = await openRows(io, file, options, operation.columns);
    try {
      return await work({ ...invocation, file, operation, infoNames, settings, source });
    } finally {
      await source.input.close();
    }
  } catch (error) {
    if (error instanceof RunInputError) throw withCommand(error, invocation);
    throw error;
  }
}

/**
 * Sends the rows of a file.
 *
 * @throws FailedRowsError if a row is not ok at the end, and what stopped the run
 */
async function runMany(
  invocation: Invocation<BulkOptions>,
  file: string,
  operation: RowOperation,
  infoNames: readonly string[] = [],
): Promise<void> {
  refuseMaskedReveal(invocation.options);
  if (invocation.options.dryRun && !invocation.options.preflight) {
    throw new InvalidInputError(
      '--dry-run checks the rows, --no-preflight does not: use one of them',
    );
  }
  await withRows(invocation, file, operation, infoNames, async (run) => {
    if (invocation.options.dryRun) await runDry(run);
    else if (run.source.input.size === null) await runStream(run);
    else await runFile(run);
  });
}

/** Checks the rows; those that cannot be sent are written to `--results` and `--failed`. */
async function runDry(run: BulkRun): Promise<void> {
  const { results, failed, takeOver } = run.options;
  const input = run.source.input.size === null ? undefined : run.file;
  refuseUnusable({ results, failed }, input);
  const release = await lockFiles({ results, failed }, takeOver);
  try {
    const failedFile = newFailedFile(failed);
    if (results !== undefined) requireNoResults(results);
    if (failedFile !== null) requireOurs(failedFile);
    const files = { results: results ?? null, failed: failedFile };
    await reportDryRun(run, await checkRows(run, files));
  } finally {
    release();
  }
}

/** The file of `--failed` where no earlier part of the run can have written it. */
function newFailedFile(path: string | undefined): ReplaceableFile | null {
  return path === undefined ? null : { path, ours: [] };
}

async function runFile(run: BulkRun): Promise<void> {
  const { io, options, operation, settings, source } = run;
  const paths = pathsOf(run);
  const files = new RunFiles(paths, startOf(options), operation, options.takeOver);
  try {
    await files.claim();
    const { rows, hash, digest, keys } = await checkRows(run, {
      results: null,
      failed: files.refusedRows(),
    });
    await confirmWrite(run, rows === null ? 'all rows' : formatRows(rows), keys);
    const { note, ...record } = await files.open({
      'input file': `${source.input.size} bytes, SHA-256 ${hash}`,
      ...source.identity,
      ...operation.identity,
      operation: operation.endpoint.operation,
      'base URL': settings.base_url.value,
      'tenant code': settings.tenant_code.value,
      channel: settings.channel.value,
      'app key': settings.app_key.value,
    });
    if (note !== null) await printMessage(io, note);
    const checked = { ...source, input: checkedInput(source.input, digest) };
    await execute({ ...run, source: checked }, record, paths, rows);
  } finally {
    files.release();
  }
}

function startOf({ resume, restart }: BulkOptions): RunStart {
  if (resume) return 'resume';
  return restart ? 'restart' : 'new';
}

/** @throws InvalidInputError if two of the files are the same */
function pathsOf({ file, options }: BulkRun): RunPaths {
  const { results, failed, part } = options;
  const name = part === undefined ? file : `${file}.${partName(part)}`;
  const paths = {
    results: results ?? `${name}.results.ndjson`,
    journal: `${results ?? name}.userinfo-journal`,
    failed: failed ?? null,
  };
  refuseUnusable(paths, file);
  return paths;
}

async function runStream(run: BulkRun): Promise<void> {
  const { io, options } = run;
  const useless = (['resume', 'restart'] as const).find((name) => options[name] !== undefined);
  if (useless !== undefined) {
    throw new InvalidInputError(`a run over a stream cannot be resumed: leave --${useless} out`, {
      hint: 'Save the rows to a file first; then a run can be stopped at any time.',
    });
  }
  const { results, failed: failedPath, takeOver } = options;
  if (results === undefined) refuseOutputOptions(run);
  refuseUnusable({ results, failed: failedPath });
  const release = await lockFiles({ results, failed: failedPath }, takeOver);
  try {
    const failed = newFailedFile(failedPath);
    if (failed !== null) requireOurs(failed);
    const isAnswered = options.yes === true;
    await confirmDoubts(run.context, runDoubts(run), 'Send the rows as they are?', isAnswered);
    await confirmWrite(run, 'the rows of a stream');
    if (io.closed !== undefined) Object.assign(io.closed, readerHasExited);
    const sink = openResults(results, io.stdout, io.stdout.isTTY ? showData : undefined);
    const record = { results: sink, journal: null, failed, state: new RunState() };
    await execute(run, record, null, null);
  } finally {
    release();
  }
}

/**
 * Outcomes on stdout are NDJSON, as they arrive. JSON is accepted: it is the format of errors, too.
 *
 * @throws InvalidInputError for an option of the output that they cannot follow
 */
function refuseOutputOptions(run: BulkRun): void {
  const useless = optionForData(run);
  if (useless === undefined) return;
  throw new InvalidInputError(`${useless} has no effect on the outcomes of a stream: NDJSON`, {
    hint: 'Leave it out, or write them to a file: --results FILE.',
  });
}

/** An option or variable that changes how data is printed, if one is given. */
function optionForData({ options, style }: BulkRun): string | undefined {
  const { output, query, mask } = options;
  if (query !== undefined) return '--query';
  if (mask) return '--mask';
  if (style.mask) return 'USERINFO_MASK';
  if (output !== undefined && factsOf(output).errors !== 'json') return `-o ${output}`;
  return undefined;
}

/** How a run over a stream ends when nobody takes its outcomes. */
const readerHasExited: ClosedOutput = {
  status: exitStatus.interrupted,
  message:
    'the reader of the outcomes has exited, and the run was stopped\n' +
    'Rows without a line may have been sent. To keep every outcome, add --results FILE.',
};

/**
 * Before many rows are written to production, asks the user to type the name of the profile;
 * `--yes` answers in advance.
 *
 * @throws InvalidInputError if another name was typed, or there is no terminal to ask on: nothing
 * was sent
 */
async function confirmWrite(
  { context: { prompt }, io, options, operation, settings }: BulkRun,
  rows: string,
  keys: readonly string[] = [],
): Promise<void> {
  const { environment, profile, base_url } = settings;
  if (!operation.endpoint.writes || environment.value !== 'production' || options.yes) return;
  const production = describeProduction(settings);
  if (!prompt.possible) {
    throw new InvalidInputError(
      `writing ${rows} to ${production} needs a confirmation, and there is no terminal`,
      { hint: 'Add --yes to confirm in advance.' },
    );
  }
  const values = keys.length === 0 ? rows : `${listKeys(keys)} of ${rows}`;
  await printMessage(io, `about to write ${values} to ${production}`);
  const name = profile ?? new URL(base_url.value).host;
  const kind = profile === null ? 'host' : 'profile';
  const answer = await prompt.text(`To continue, type the name of the ${kind}, ${name}:`);
  if (answer.trim() !== name) throw new InvalidInputError(`the answer was not ${name}`);
}

/**
 * Prints what a run would do: its keys and the first of its rows; personal data is masked unless
 * --reveal is given.
 */
async function reportDryRun(
  { io, isTable, print, options, operation, settings, source }: BulkRun,
  checked: CheckedFile,
): Promise<void> {
  const { reveal = false } = options;
  const keys = reveal ? checked.keys : checked.keys.map(maskGivenName);
  const sample = checked.sample.map(({ line, request }) => ({
    line,
    ...shownParameters(request, reveal),
  }));
  const rows = checked.rows ?? 0;
  const { host } = new URL(settings.base_url.value);
  const environment = settings.environment.value;
  const name = operation.endpoint.operation;
  const effect = `${name} of ${formatRows(rows)} would go to ${host}, ${environment}`;
  await printMessage(io, `dry run: ${effect}`);
  const emptyRows = source.emptyRows();
  if (emptyRows > 0) await printMessage(io, formatEmptyRows(emptyRows));
  if (keys.length > 0) await printMessage(io, `keys: ${listKeys(keys)}`);
  const summary = withoutUndefined({
    dry_run: true,
    operation: name,
    rows,
    empty_rows: emptyRows || undefined,
    keys,
    host,
    environment,
    sha256: checked.hash,
    sample,
  });
  await print(isTable ? sample : summary);
  if (!reveal) await printMessage(io, revealAdvice);
}

function shownParameters({ parameters }: PlainRequest, reveal: boolean): object {
  if (reveal) return Object.fromEntries(parameters);
  const masked = Array.from(parameters, ([name, value]) => [
    name,
    showParameter(name, value, maskGivenName),
  ]);
  return Object.fromEntries(masked);
}

/**
 * Executes a run, shows its progress and its summary. `paths` is `null` if it cannot be resumed,
 * `total` if the number of rows is not known.
 *
 * @throws FailedRowsError if a row is not ok at the end, and what stopped the run
 */
async function execute(
  bulkRun: BulkRun,
  record: RunRecord,
  paths: RunPaths | null,
  total: number | null,
): Promise<void> {
  const { context, io, options, operation, settings, source } = bulkRun;
  const { signal } = context;
  const { concurrency, rate = null, attempts, timeout, maxFailures = null } = options;
  const sender = await connectTo(context, settings, options, { connections: concurrency });
  // Checked rows were asked about.
  const unchecked = total === null ? new ColumnDoubts(operation, options.types) : undefined;
  const inspect: ColumnDoubts['add'] = (line, fields) => unchecked?.add(line, fields);
  let stop = () => {};
  let report: RunReport;
  try {
    const pacing = { concurrency, ratePerSecond: rate, attempts, timeoutMs: timeout };
    const run = new FileRun({ ...record, source, operation, sender, pacing, maxFailures, inspect });
    stop = () => {
      if (io.stderr.isTTY) io.stderr.write('\r\u001b[K'); // the bar, and ^C
      run.stop();
      // A broken stderr ends the command elsewhere.
      printMessage(io, stopping).catch(() => {});
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const progressNow = () => {
      const { counts } = record.state;
      const rows = totalOf(counts);
      const share = total === null ? source.input.share() : rows / total;
      return {
        doing: operation.endpoint.operation,
        rows,
        share,
        total,
        counts,
        pausedMs: run.pausedMs,
      };
    };
    report = await withProgress(io, options, progressNow, () => run.run());
  } finally {
    signal.removeEventListener('abort', stop);
    await sender.drop();
  }
  context.hasSent = report.done > 0;
  if (unchecked !== undefined) await warnOfDoubts(io, unchecked.texts(settings.key_prefix));
  const error = await reportRun({ ...bulkRun, report, paths, total });
  if (error === null) return;
  const isCall = error instanceof RejectedError || error instanceof NoAnswerError;
  if (isCall) throw explainFailure(error, settings, operation.endpoint.operation);
  throw error;
}

const stopping =
  'stopping: waiting for the answers to what was sent; Ctrl-C once more stops at once';
