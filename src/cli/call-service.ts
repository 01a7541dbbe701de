import type { Answer } from '../client/answer.js';
import type { UserInfoClient } from '../client/client.js';
import { RejectedError } from '../client/errors.js';
import type { CallOptions } from '../client/options.js';
import type { WireRequest } from '../client/transport.js';
import type { Settings } from '../profiles/settings.js';
import type { Envelope } from '../protocol/envelope.js';
import { clientOptions } from './client-options.js';
import type { CliContext } from './context.js';
import type { CommonOptions, ConnectionOptions } from './options.js';
import { printAnswer } from './output/print-answer.js';
import { outputStyle } from './output/style.js';
import { isPreview, type PreviewOptions, printPreview } from './preview.js';
import { resolveService } from './resolve-service.js';

/** What a command asks of the service. */
export interface Call {
  readonly send: (client: UserInfoClient, options: CallOptions) => Promise<Answer<Envelope<unknown>>>;
  /** The same, to be shown. */
  readonly sign: (client: UserInfoClient) => WireRequest;
}

/**
 * One call from options to output: settings, `beforeSending` (a question, a warning), the call, the envelope on
 * stdout. An envelope with another code than 200 is printed too, before its RejectedError is thrown. A preview ends
 * before anything is sent.
 */
export async function callService(
  context: CliContext,
  options: CommonOptions & ConnectionOptions & PreviewOptions,
  call: Call,
  beforeSending: (settings: Settings) => Promise<void> = async () => {},
): Promise<void> {
  const { io, signal } = context;
  const style = await outputStyle(options, io);
  const settings = await resolveService(context, options);
  await beforeSending(settings);
  const client = await context.connect(await clientOptions(context, settings, options));
  const print = (answer: Answer<Envelope<unknown>>) => printAnswer(answer, io, style);
  try {
    if (isPreview(options)) await printPreview(call.sign(client), options, settings, io, style);
    else await print(await call.send(client, { signal }));
  } catch (error) {
    if (error instanceof RejectedError) await print(error.answer);
    throw error;
  } finally {
    await client.close();
  }
}
