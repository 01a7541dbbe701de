import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import { UserInfoError } from '../protocol/errors.js';
import { showData, showText } from './output/terminal-text.js';

/** A stream that may be a terminal. */
export type Terminal<S> = S & { readonly isTTY?: boolean; readonly columns?: number };

/** All that a command touches of the world around it; a test hands in its own. */
export interface Io {
  readonly stdin: Terminal<Readable>;
  /** Data only. */
  readonly stdout: Terminal<Writable>;
  /** Messages, warnings, prompts, progress. */
  readonly stderr: Terminal<Writable>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Data or words could not be written: the disk is full, the pipe closed. */
export class OutputError extends UserInfoError {
  readonly code = 'OUTPUT';

  constructor(cause: Error) {
    super(`the output cannot be written: ${cause.message}`, {
      hint: 'Free some space, or write to another place.',
      cause,
    });
  }
}

/**
 * Writes data and waits until the stream has taken it. A file or a pipe gets it byte for byte, a terminal with what
 * would act there as escapes.
 *
 * @throws OutputError
 */
export function write(stream: Terminal<Writable>, data: string | Uint8Array): Promise<void> {
  if (!stream.isTTY) return writeStyled(stream, data);
  return writeStyled(stream, showData(typeof data === 'string' ? data : new TextDecoder().decode(data)));
}

/**
 * Writes as it is, for text with colours of ours: all else in it has passed `showText`.
 *
 * @throws OutputError
 */
export function writeStyled(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(new OutputError(error)) : resolve()));
  });
}

/** One line of words for the user, behind a `label` that may have colours. */
export function say(io: Io, words: string, label = ''): Promise<void> {
  return writeStyled(io.stderr, `${label}${showText(words)}\n`);
}

/** All of standard input. Throws an AbortError where `signal` ends it first. */
export async function readAll(stdin: Readable, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
