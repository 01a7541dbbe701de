import { isUtf8 } from 'node:buffer';
import { type Answer, bodyMembers } from '../../client/call/answer.js';
import { NoAnswerError, RejectedError } from '../../client/call/errors.js';
import type { PlainRequest } from '../../client/call/request.js';
import { UserInfoError } from '../../core/contract/errors.js';
import { isRecord, parseExact } from '../../core/contract/exact-json.js';
import { describeMissing } from '../../core/contract/info-names.js';
import { maskWords } from '../../core/contract/masking.js';
import type { Settings } from '../../core/profiles/settings.js';
import { jsonValueOf } from '../../core/support/json.js';
import type { Invocation } from '../command.js';
import { factsOf } from '../command-line/options.js';
import { type Io, printMessage, write, writeStyled } from '../io.js';
import { formatCount } from '../output/numbers.js';
import { maskPersonalData, printData } from '../output/print.js';
import { isPlainTable, type OutputStyle, warn } from '../output/style.js';
import { confirm } from '../prompt.js';
import { connectTo, describeProduction, listKeys, resolveDeployment } from './deployment.js';
import { confirmDoubts, type DoubtfulText } from './doubts.js';
import { isPreview, printPreview, type RequestOptions } from './preview.js';

/**
 * Makes one call, from options to output: resolves settings, asks about the doubts of `judge`, asks
 * before a write to production, sends the request, and prints the envelope to stdout, warnings and
 * missing names to stderr. An envelope whose code is not 200 is printed too, unless there is a
 * query, before its RejectedError is thrown; so is an answer that is not an envelope, in a
 * format for programs or with `--verbose`: its code may be used up. A preview sends nothing. The connection is left to the
 * end of the process: closing it takes 3 ms.
 */
export async function callService(
  invocation: Invocation<RequestOptions>,
  request: PlainRequest,
  judge: (settings: Settings) => Promise<readonly DoubtfulText[]>,
): Promise<void> {
  const { context, io, options, style, isTable } = invocation;
  const settings = await resolveDeployment(context, options);
  const isAnswered = options.yes === true || isPreview(options);
  await confirmDoubts(context, await judge(settings), 'Send it as it is?', isAnswered);
  await confirmWrite(invocation, request, settings);
  const client = await connectTo(context, settings, options);
  if (isPreview(options)) return printPreview(invocation, client.sign(request), settings);
  try {
    const answer = await client.send(request, { signal: context.signal });
    await printAnswer(answer, io, style);
    for (const warning of answer.warnings) await warn(io, warning);
    // A mistyped name looks like one without a value.
    const { missing = [] } = answer;
    if (missing.length > 0) await printMessage(io, describeMissing(missing));
  } catch (error) {
    if (!(error instanceof RejectedError || error instanceof NoAnswerError)) throw error;
    await printFailedAnswer(invocation, error);
    const { explainFailure } = await import('./explain-failure.late.js');
    const { operation } = request.endpoint;
    // The table above the error says the reason.
    const isSaid = error instanceof RejectedError && isTable && io.stdout.isTTY;
    const message = isSaid ? 'the service refused the request' : undefined;
    throw explainFailure(error, settings, operation, message);
  }
}

/** Prints what the service answered a failed call with, if it did. */
async function printFailedAnswer(
  { io, options, style }: Invocation<RequestOptions>,
  error: RejectedError | NoAnswerError,
): Promise<void> {
  // A query is for the data of an answer: a script would take null for a value.
  if (error instanceof RejectedError && style.select !== undefined) return;
  if (error.answer !== undefined) return printAnswer(error.answer, io, style);
  if (error instanceof NoAnswerError && error.body !== undefined)
    await printUnknownBody(error.body, io, style, options.verbose);
}

type BodyMembers = ReturnType<typeof bodyMembers>;

/** Maximum number of characters that are printed of an answer that is not an envelope. */
const maxLength = 8_192;

/**
 * Prints the body of an answer that is not an envelope: to stdout in a format for programs that
 * keeps the nesting, in base64 if it is not text; to stderr masked, where its reason is read.
 */
async function printUnknownBody(
  body: Uint8Array,
  io: Io,
  style: OutputStyle,
  verbose = false,
): Promise<void> {
  const isText = isUtf8(body);
  const isForProgram = style.format !== 'table' && !factsOf(style.format).isFlat;
  if (isForProgram && style.select === undefined) {
    const members = bodyMembers(body, maxLength);
    const printed = style.mask ? maskMembers(members, isText) : members;
    await printData(printed, io, { ...style, mask: false });
  }
  if (!verbose) return;
  if (!isText)
    return printMessage(io, `<   … (${formatCount(body.length)} bytes that are not UTF-8)`);
  const whole = new TextDecoder().decode(body).trim();
  for (const line of maskText(whole.slice(0, maxLength)).split(/\r\n?|\n/))
    await printMessage(io, `<   ${line}`);
  if (whole.length <= maxLength) return;
  await printMessage(io, `<   … (the whole answer has ${formatCount(whole.length)} characters)`);
}

function maskMembers(members: BodyMembers, isText: boolean): BodyMembers {
  return { ...members, body: isText ? maskText(members.body) : '****' };
}

/** Masks what may be personal: in JSON by its names, in other text by its form. */
function maskText(text: string): string {
  return jsonValueOf(text) === undefined ? maskWords(text) : maskPersonalData(text);
}

/** @throws InvalidInputError unless a request that writes to production is confirmed */
async function confirmWrite(
  { context, options }: Invocation<RequestOptions>,
  { endpoint, parameters }: PlainRequest,
  settings: Settings,
): Promise<void> {
  if (!endpoint.writes || settings.environment.value !== 'production' || isPreview(options)) return;
  const user = describeUser(parameters);
  const keys = Object.keys(JSON.parse(parameters.get('user_info') ?? '{}'));
  const change =
    keys.length === 0 ? `${endpoint.summary}: ${user}` : `Write ${listKeys(keys)} to ${user}`;
  await confirm(context, `${change} in ${describeProduction(settings)}?`, options.yes);
}

function describeUser(parameters: PlainRequest['parameters']): string {
  const unionId = parameters.get('union_id');
  if (unionId !== undefined) return `the user ${unionId}`;
  const primaryKey = parameters.get('primary_key');
  return primaryKey === undefined ? 'a user' : `the user with that ${primaryKey}`;
}

/**
 * Prints an answer. JSON without a query is the received bytes and a newline; `csv` is `data`
 * alone, other formats are the whole envelope; a query applies to the whole envelope. If the format
 * cannot show the answer, it is printed as JSON before the error is thrown, since its code is used
 * up.
 */
export async function printAnswer(
  answer: Answer<unknown>,
  io: Io,
  style: OutputStyle,
): Promise<void> {
  const { format, select, mask } = style;
  const received = new TextDecoder().decode(answer.body);
  const isReceivedJson = format === 'json' && select === undefined;
  if (isReceivedJson && !mask) return printJson(received, answer.body, io);
  const body = mask ? maskPersonalData(received) : received;
  if (isReceivedJson) return printJson(body, Buffer.from(body), io);
  try {
    await printBody(body, io, style);
  } catch (error) {
    if (!(error instanceof UserInfoError)) {
      await warn(io, `the answer cannot be shown as ${format}; the whole answer follows as JSON`);
      await printJson(body, Buffer.from(body), io);
    }
    throw error;
  }
}

/**
 * A carriage return between tokens is white space in JSON, but on a terminal it would hide the text
 * before it.
 */
async function printJson(text: string, bytes: Uint8Array, { stdout }: Io): Promise<void> {
  const json = stdout.isTTY ? Buffer.from(text.replace(/\r\n?/g, '\n')) : bytes;
  await write(stdout, Buffer.concat([json, Buffer.from('\n')]));
}

async function printBody(body: string, io: Io, style: OutputStyle): Promise<void> {
  if (isPlainTable(style)) {
    const { formatEnvelopeTable } = await import('../output/data-table.late.js');
    return writeStyled(io.stdout, formatEnvelopeTable(body, style));
  }
  const envelope = parseExact(body) as { readonly data?: unknown };
  if (!factsOf(style.format).isFlat || style.select !== undefined)
    return printData(envelope, io, style);
  // A refusal may have no data, or data that is not an object.
  return printData(isRecord(envelope.data) ? envelope.data : {}, io, style);
}
