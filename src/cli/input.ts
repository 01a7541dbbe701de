import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { InvalidInputError, quoteName } from '../protocol/errors.js';
import { describeSystemError, isSystemError, UnsuitableFileError } from '../support/errors.js';
import { readInput, readInputFile } from '../support/input-file.js';
import { findJsonFault } from '../support/json-fault.js';
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
export async function readText({ io, signal }: Source, file: string, what = 'the input'): Promise<string> {
  const name = inputName(file);
  if (file !== '-') return readNamedFile(file, name, { signal });
  await announceWait(io, what);
  return decodeUtf8(await buffer(addAbortSignal(signal, io.stdin)), name);
}

/** Says on a terminal that the program waits for input. */
export async function announceWait(io: Io, what: string): Promise<void> {
  if (io.stdin.isTTY) await printMessage(io, `type or paste ${what}, then press Ctrl-D:`);
}

/**
 * Reads the text of a file, or of a pipe as of `<(command)`; messages call it `name`. `hint` is for one that cannot be
 * read; with `isKept` a pipe is refused, which can be read once.
 *
 * @throws InvalidInputError, also for a device; AbortError
 */
export async function readNamedFile(
  path: string,
  name: string,
  { hint, signal, isKept = false }: { hint?: string; signal?: AbortSignal; isKept?: boolean } = {},
): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = isKept ? readInputFile(path) : await readInput(path, signal);
  } catch (cause) {
    throw explainUnreadable(cause, name, hint);
  }
  return decodeUtf8(bytes, name);
}

/** The error of a file, called `name`, that cannot be read; another error as it is. */
export function explainUnreadable(cause: unknown, name: string, hint?: string): unknown {
  if (!isSystemError(cause) && !(cause instanceof UnsuitableFileError)) return cause;
  return new InvalidInputError(`${name} cannot be read: ${describeSystemError(cause)}`, { hint, cause });
}

/** The name of a file in messages; `-` is standard input. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : `the file ${quoteName(file)}`;
}

/**
 * Reads the JSON of a file, or of standard input for `-`. Duplicate keys are refused: JSON.parse takes the last one,
 * and a person who checks the file may read the first.
 *
 * @throws InvalidInputError that names the file, and the position of an error
 */
export async function readJson(source: Source, file: string): Promise<unknown> {
  const text = await readText(source, file);
  const name = inputName(file);
  const json = parseJson(text, name);
  const fault = findJsonFault(text);
  if (!fault?.doubled) return json;
  throw new InvalidInputError(`${name}: duplicate key at line ${fault.line}, column ${fault.column}`, {
    hint: 'Remove one of the two.',
  });
}

/** @throws InvalidInputError with the position of the error in the JSON called `name`, without any of its content */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    const place = fault === null ? '' : ` at line ${fault.line}, column ${fault.column}`;
    throw new InvalidInputError(`${name}: invalid JSON${place}`);
  }
}

/**
 * Reads one value from standard input, without the line break at its end; `what` names it in messages.
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

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes UTF-8 without a byte-order mark. `name` is that of the source in messages.
 *
 * @throws InvalidInputError
 */
export function decodeUtf8(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new InvalidInputError(`${name} is not UTF-8`, {
      hint: 'Give text, saved as UTF-8: in another encoding it would be stored damaged.',
      cause: error,
    });
  }
}

/**
 * Refuses arguments and our environment variables that are not UTF-8: Node replaces the invalid bytes by U+FFFD, and
 * the damaged text would be stored (§4.2 rule 7). A text with that character can come from a file.
 *
 * @throws InvalidInputError
 */
export function refuseDamaged(args: readonly string[], env: Io['env']): void {
  const texts = [
    ...args.map((arg, index) => [`argument ${index + 1}`, arg] as const),
    ...Object.entries(env).filter(([name]) => name.startsWith('USERINFO_')),
  ];
  const [damaged] = texts.find(([, text]) => text?.includes('\ufffd')) ?? [];
  if (damaged === undefined) return;
  throw new InvalidInputError(`${damaged} is not UTF-8: it would be stored damaged`, {
    sent: 'nothing',
    hint: 'Give the text as UTF-8, or from a UTF-8 file: key=@file, or --user-info - < file.',
  });
}
