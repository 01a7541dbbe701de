import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import { UserInfoError } from '../protocol/errors.js';

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

/** Writes and waits until the stream has taken it. Throws an OutputError. */
export function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(new OutputError(error)) : resolve()));
  });
}

/** One line of words for the user. */
export function say(io: Io, line: string): Promise<void> {
  return write(io.stderr, `${line}\n`);
}

/** All of standard input. Throws an AbortError where `signal` ends it first. */
export async function readAll(stdin: Readable, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
