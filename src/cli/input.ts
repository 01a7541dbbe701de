import { addAbortSignal, type Readable } from 'node:stream';
import { InvalidInputError, quoteName } from '../core/contract/errors.js';
import { decodeText, NotTextError } from '../core/support/byte-order-mark.js';
import { describeSystemError, isSystemError, UnsuitableFileError } from '../core/support/errors.js';
import { readInput, readInputFile } from '../core/support/input-file.js';
import { jsonFault } from '../core/support/json.js';
import { type Io, printMessage } from './io.js';

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
