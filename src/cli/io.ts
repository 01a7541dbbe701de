import type { Readable, Writable } from 'node:stream';
import { UserInfoError } from '../core/contract/errors.js';
import { describeSystemError, isSystemError } from '../core/support/errors.js';
import { showData, showText } from './output/terminal-text.js';

/** A stream that may be a terminal. */
export type Terminal<S> = S & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * How the program ends when the reader of its data exits first, as "head" does: with status 0 and
 * no message, unless a command sets others.
 */
export interface ClosedOutput {
  status: number;
  /** An error for stderr, and what to do, each on a line. */
  message?: string;
}

/** The environment of a command; tests pass their own. */
export interface Io {
  readonly stdin: Terminal<Readable>;
  /** Data only. */
  readonly stdout: Terminal<Writable>;
  /** Messages, warnings, prompts, progress. */
  readonly stderr: Terminal<Writable>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the program ends if the reader of stdout exits before all data is written. */
  readonly closed?: ClosedOutput;
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
 * Writes data and waits until the stream has accepted it. A file or a pipe receives the exact
 * bytes; on a terminal, unsafe characters are escaped.
 *
 * @throws OutputError
 */
export function write(stream: Terminal<Writable>, data: string | Uint8Array): Promise<void> {
  if (!stream.isTTY) return writeStyled(stream, data);
  const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
  return writeStyled(stream, showData(text));
}

/**
 * Writes text with our own colours unchanged: the rest of it has passed `showText`.
 *
 * @throws OutputError
 */
export function writeStyled(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => {
      if (error && !isClosed(error)) reject(new OutputError(error));
      else resolve();
    });
  });
}

/**
 * Whether the reader of a pipe has exited: for messages nothing follows from it, for data the
 * program ends.
 */
function isClosed(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}

/**
 * Prints a one-line message to stderr, after a `label` that may be coloured. On a terminal, a
 * longer line is broken between words.
 */
export async function printMessage({ stderr }: Io, message: string, label = ''): Promise<void> {
  const line = `${label}${showText(message)}`;
  // Most lines fit even if each of their characters is wide, as Chinese ones are.
  if (!stderr.isTTY || !stderr.columns || 2 * line.length <= stderr.columns)
    return writeStyled(stderr, `${line}\n`);
  const { breakText } = await import('./output/break-lines.js');
  return writeStyled(stderr, `${breakText(line, stderr.columns)}\n`);
}

/** The next steps: sentences, then commands, each of which can be pasted. */
export interface Advice {
  /** Sentences; those after a line break are shown on a line of their own. */
  readonly hint: string | null;
  readonly commands: readonly string[];
}

/** Prints advice to stderr, each command on a line of its own. */
export async function printAdvice(io: Io, { hint, commands }: Advice): Promise<void> {
  for (const line of hint?.split('\n') ?? []) await printMessage(io, line);
  for (const command of commands) {
    const [first = '', ...more] = command.split('\n').map(showText);
    await writeStyled(io.stderr, `  ${[first, ...more].join('\n')}\n`);
  }
}
