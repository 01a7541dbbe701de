import type { Readable, Writable } from 'node:stream';
import { UserInfoError } from '../protocol/errors.js';
import { describeSystemError, isSystemError } from '../support/errors.js';
import { showData, showText } from './output/terminal-text.js';

/** A stream that may be a terminal. */
export type Terminal<S> = S & { readonly isTTY?: boolean; readonly columns?: number };

/** The environment of a command; tests pass their own. */
export interface Io {
  readonly stdin: Terminal<Readable>;
  /** Data only. */
  readonly stdout: Terminal<Writable>;
  /** Messages, warnings, prompts, progress. */
  readonly stderr: Terminal<Writable>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Data or messages could not be written: the disk is full, or the pipe is closed. */
export class OutputError extends UserInfoError {
  readonly code = 'OUTPUT';

  constructor(cause: Error) {
    const why = isSystemError(cause) ? describeSystemError(cause) : cause.message;
    super(`the output cannot be written: ${why}`, {
      hint: 'Free disk space, or write elsewhere.',
      cause,
    });
  }
}

/**
 * Writes data and waits until the stream has accepted it. A file or a pipe receives the exact bytes; on a
 * terminal, unsafe characters are escaped.
 *
 * @throws OutputError
 */
export function write(stream: Terminal<Writable>, data: string | Uint8Array): Promise<void> {
  if (!stream.isTTY) return writeStyled(stream, data);
  return writeStyled(stream, showData(typeof data === 'string' ? data : new TextDecoder().decode(data)));
}

/**
 * Writes text with our own colours unchanged: the rest of it has passed `showText`.
 *
 * @throws OutputError
 */
export function writeStyled(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(new OutputError(error)) : resolve()));
  });
}

/** Prints a one-line message to stderr, after a `label` that may be coloured. */
export function printMessage(io: Io, message: string, label = ''): Promise<void> {
  return writeStyled(io.stderr, `${label}${showText(message)}\n`);
}
