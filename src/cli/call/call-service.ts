import type { Answer } from '../../client/answer.js';
import { NoAnswerError, RejectedError } from '../../client/errors.js';
import type { PlainRequest } from '../../client/request.js';
import type { Settings } from '../../profiles/settings.js';
import { describeMissing, missingInfoNames } from '../../protocol/info-names.js';
import { maskWords } from '../../protocol/masking.js';
import { formatCount } from '../../support/count.js';
import { jsonValueOf } from '../../support/json-value.js';
import type { Call } from '../command.js';
import { type Io, printMessage, write } from '../io.js';
import { maskPersonalData } from '../output/print.js';
import { printAnswer } from '../output/print-answer.js';
import { type OutputStyle, warn } from '../output/style.js';
import { confirm } from '../prompt.js';
import { clientOptions } from './client-options.js';
import { describeProduction, listKeys, resolveDeployment } from './deployment.js';
import { isPreview, printPreview, type RequestOptions } from './preview.js';

/**
 * Makes one call, from options to output: resolves settings, calls `beforeSending` (a warning), asks before a write to
 * production, sends the request, and prints the envelope to stdout, warnings and missing names to stderr. An envelope
 * whose code is not 200 is printed too, unless there is a query, before its RejectedError is thrown; so is an answer
 * that is not an envelope, with `--json` or `--verbose`: its code may be used up. A preview sends nothing. The
 * connection is left to the end of the process: closing it takes 3 ms.
 */
export async function callService(
  call: Call<RequestOptions>,
  request: PlainRequest,
  beforeSending: (settings: Settings) => Promise<void> = async () => {},
): Promise<void> {
  const { context, io, options, style, isTable } = call;
  const settings = await resolveDeployment(context, options);
  await beforeSending(settings);
  await confirmWrite(call, request, settings);
  const client = await context.connect(await clientOptions(context, settings, options));
  if (isPreview(options)) return printPreview(call, client.sign(request), settings);
  try {
    const answer = await client.send(request, { signal: context.signal });
    await printAnswer(answer, io, style);
    for (const warning of answer.warnings) await warn(io, warning);
    await reportMissing(request, answer, io);
  } catch (error) {
    if (!(error instanceof RejectedError || error instanceof NoAnswerError)) throw error;
    // A query is for the data of an answer: a script would take null for a value.
    const isQuery = error instanceof RejectedError && style.select !== undefined;
    if (error.answer !== undefined) {
      if (!isQuery) await printAnswer(error.answer, io, style);
    } else if (error instanceof NoAnswerError && error.body !== undefined) {
      await printUnknownBody(error.body, io, style, options.verbose);
    }
    const { explainFailure } = await import('./explain-failure.late.js');
    // The table above the error says the reason.
    const isSaid = error instanceof RejectedError && isTable && io.stdout.isTTY;
    const message = isSaid ? 'the service refused the request' : undefined;
    throw explainFailure(error, settings, request.endpoint.operation, message);
  }
}

/** Maximum number of characters that are printed of an answer that is not an envelope. */
const maxLength = 8_192;

/** Prints the body of an answer that is not an envelope: to stdout as JSON, to stderr masked, where its reason is read. */
async function printUnknownBody(
  body: Uint8Array,
  io: Io,
  { format, select, mask }: OutputStyle,
  verbose = false,
): Promise<void> {
  const whole = new TextDecoder().decode(body).trim();
  const text = whole.slice(0, maxLength);
  if (format === 'json' && select === undefined)
    await write(io.stdout, `${JSON.stringify({ body: mask ? masked(text) : text })}\n`);
  if (!verbose) return;
  for (const line of masked(text).split(/\r\n?|\n/)) await printMessage(io, `<   ${line}`);
  if (whole.length <= maxLength) return;
  await printMessage(io, `<   … (the whole answer has ${formatCount(whole.length)} characters)`);
}

function masked(text: string): string {
  return jsonValueOf(text) === undefined ? maskWords(text) : maskPersonalData(text);
}

/** @throws InvalidInputError unless a request that writes to production is confirmed */
async function confirmWrite(
  { context, options }: Call<RequestOptions>,
  { endpoint, parameters }: PlainRequest,
  settings: Settings,
): Promise<void> {
  if (!endpoint.writes || settings.environment.value !== 'production' || isPreview(options)) return;
  const unionId = parameters.get('union_id');
  const user =
    unionId === undefined ? `the user with that ${parameters.get('primary_key')}` : `the user ${unionId}`;
  const keys = Object.keys(JSON.parse(parameters.get('user_info') ?? '{}'));
  const change = keys.length === 0 ? `${endpoint.summary}: ${user}` : `Write ${listKeys(keys)} to ${user}`;
  await confirm(context, `${change} in ${describeProduction(settings)}?`, options.yes);
}

/** Reports requested names that the answer lacks: a mistyped name looks like one without a value. */
async function reportMissing({ infoNames }: PlainRequest, { envelope }: Answer, io: Io): Promise<void> {
  const missing = missingInfoNames(infoNames, envelope.data);
  if (missing.length > 0) await printMessage(io, describeMissing(missing));
}
