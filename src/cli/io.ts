import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import { InvalidInputError, quoteName, UserInfoError } from '../core/contract/errors.js';
import { decodeText, NotTextError } from '../core/support/byte-order-mark.js';
import { describeSystemError, isSystemError, UnsuitableFileError } from '../core/support/errors.js';
import { readInput, readInputFile } from '../core/support/input-file.js';
import { jsonFault } from '../core/support/json.js';
import { showData, showText } from './output/terminal-text.js';

/** A stream that may be a terminal. */
export type Terminal<S> = S & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * How the program ends when the reader of its data exits first, as "head" does: with status 0 and no
 * message, unless a command sets others.
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

/** Where input comes from: standard input, until it is aborted. */
interface Source {
  readonly io: Io;
  readonly signal: AbortSignal;
}

/**
 * Reads the text of a file, or of standard input for `-`; on a terminal, `what` names what to type.
 *
 * @throws InvalidInputError that names the file, AbortError
 */
export async function readText(
  { io, signal }: Source,
  file: string,
  what = 'the input',
): Promise<string> {
  if (file !== '-') return readNamedFile(file, inputName(file), { signal });
  await announceWait(io, what);
  return readNamedFile(addAbortSignal(signal, io.stdin), inputName(file), { signal });
}

/** Says on a terminal that the program waits for input. */
export async function announceWait(io: Io, what: string): Promise<void> {
  if (io.stdin.isTTY) await printMessage(io, `type or paste ${what}, then press Ctrl-D:`);
}

/**
 * Reads the text of a stream, a file, or a pipe as of `<(command)`; messages call it `name`. `hint`
 * is for one that cannot be read; with `isKept` a pipe is refused, which can be read once.
 *
 * @throws InvalidInputError, also for a device; AbortError
 */
export async function readNamedFile(
  source: string | Readable,
  name: string,
  { hint, signal, isKept = false }: { hint?: string; signal?: AbortSignal; isKept?: boolean } = {},
): Promise<string> {
  const isFile = isKept && typeof source === 'string';
  let bytes: Buffer;
  try {
    bytes = isFile ? readInputFile(source) : await readInput(source, signal);
  } catch (cause) {
    throw explainUnreadable(cause, name, hint);
  }
  return decodeInput(bytes, name);
}

/** The error of a file, called `name`, that cannot be read; another error as it is. */
export function explainUnreadable(cause: unknown, name: string, hint?: string): unknown {
  if (!isSystemError(cause) && !(cause instanceof UnsuitableFileError)) return cause;
  return new InvalidInputError(`${name} cannot be read: ${describeSystemError(cause)}`, {
    hint,
    cause,
  });
}

/** The name of a file in messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : `the file ${quoteName(file)}`;
}

/**
 * Reads the JSON of a file, or of standard input for `-`. Duplicate keys are refused: JSON.parse
 * takes the last one, and a person who checks the file may read the first.
 *
 * @throws InvalidInputError that names the file, and the place of an error
 */
export async function readJson(source: Source, file: string): Promise<unknown> {
  return parseJson(await readText(source, file), inputName(file));
}

/**
 * @throws InvalidInputError with the place of the error in the JSON called `name`, without any of
 * its content
 */
export function parseJson(text: string, name: string, hint?: string): unknown {
  const fault = jsonFault(text);
  if (fault !== null) throw new InvalidInputError(`${name}: ${fault}`, { hint });
  return JSON.parse(text);
}

/**
 * Reads one value from standard input, without the line break at its end; `what` names it in
 * messages.
 *
 * @throws InvalidInputError if standard input is empty
 */
export async function readValue(source: Source, what: string): Promise<string> {
  const value = (await readText(source, '-', `the ${what}`)).replace(/\r?\n$/, '');
  if (value === '') {
    throw new InvalidInputError(`standard input contains no ${what}`, {
      hint: 'The command that should print it may have failed.',
    });
  }
  return value;
}

/**
 * Decodes text of which nothing may be damaged. `name` is that of the source in messages.
 *
 * @throws InvalidInputError
 */
export function decodeInput(bytes: Uint8Array, name: string): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    if (!(error instanceof NotTextError)) throw error;
    throw new InvalidInputError(`${name} ${error.message}`, {
      hint: 'Give text, saved as UTF-8: in another encoding it would be corrupted.',
      cause: error,
    });
  }
}

/**
 * Refuses arguments and our environment variables that are not UTF-8: Node replaces the bytes by
 * U+FFFD, and the text cannot be sent as it was given (§4.2 rule 7). Linux alone tells them from a
 * character U+FFFD that was given, which is a doubt.
 *
 * @throws InvalidInputError
 */
export function refuseDamaged(args: readonly string[], env: Io['env']): void {
  const variables = Object.entries(env).filter(([name]) => name.startsWith('USERINFO_'));
  if (![...args, ...variables.flat()].some((text) => text?.includes('\ufffd'))) return;
  const received = [
    ...processTexts('cmdline')
      .slice(-args.length)
      .map((bytes, index) => ({ name: `argument ${index + 1}`, bytes })),
    ...variables.map(([name]) => ({ name, bytes: variableBytes(name) })),
  ];
  const damaged = received.find(({ bytes }) => !isUtf8(bytes));
  if (damaged === undefined) return;
  throw new InvalidInputError(`${damaged.name} is not UTF-8: it would be corrupted`, {
    hint: 'Give the text as UTF-8, or from a UTF-8 file: key=@file, or --user-info - < file.',
  });
}

function variableBytes(name: string): Buffer {
  const start = Buffer.from(`${name}=`);
  return processTexts('environ').find((entry) => entry.indexOf(start) === 0) ?? start;
}

/**
 * The arguments or the variables of this process, as it was started with them; none where the
 * system does not say.
 */
function processTexts(file: 'cmdline' | 'environ'): Buffer[] {
  try {
    const texts = readFileSync(`/proc/self/${file}`).toString('latin1').split('\0').slice(0, -1);
    return texts.map((text) => Buffer.from(text, 'latin1'));
  } catch {
    return [];
  }
}
