import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { InvalidInputError } from '../protocol/errors.js';

/**
 * Decodes UTF-8 without a byte-order mark. `name` is that of the source in messages.
 *
 * @throws InvalidInputError
 */
export function decodeUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new InvalidInputError(`${name} is not UTF-8`, {
      hint: 'Save it as UTF-8: text in another encoding would be stored damaged.',
      cause: error,
    });
  }
}

/** Node's replacement for bytes that are not UTF-8; a text may also contain the character itself. */
const replacement = '\ufffd';

/**
 * Refuses arguments and our environment variables that are not UTF-8: Node replaces the invalid bytes, and the
 * damaged text would be stored (§4.2 rule 7). `readProc` returns the original bytes of the process, each text
 * ended by NUL, or `null` where the system does not provide them.
 *
 * @throws InvalidInputError
 */
export function refuseDamaged(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  readProc: (file: 'cmdline' | 'environ') => Buffer | null = readOwnProc,
): void {
  args.forEach((arg, index) => {
    if (!arg.includes(replacement)) return;
    refuseUnlessUtf8(
      `argument ${index + 1}`,
      arg,
      splitAtNul(readProc('cmdline')).slice(-args.length)[index],
    );
  });
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('USERINFO_') || !value?.includes(replacement)) continue;
    const text = `${name}=${value}`;
    refuseUnlessUtf8(
      name,
      text,
      splitAtNul(readProc('environ')).find((bytes) => bytes.toString() === text),
    );
  }
}

function refuseUnlessUtf8(name: string, text: string, bytes: Buffer | undefined): void {
  const isKnown = bytes?.toString() === text;
  if (isKnown && isUtf8(bytes)) return;
  const fault = isKnown ? 'is not UTF-8' : 'contains U+FFFD, the replacement for bytes that are not UTF-8';
  throw new InvalidInputError(`${name} ${fault}: it would be stored damaged`, {
    hint: 'Nothing was sent. Give the text as UTF-8, or from a UTF-8 file: key=@file, or --user-info - < file.',
  });
}

function splitAtNul(bytes: Buffer | null): Buffer[] {
  const texts: Buffer[] = [];
  if (bytes === null) return texts;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    texts.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return texts;
}

function readOwnProc(file: 'cmdline' | 'environ'): Buffer | null {
  try {
    return readFileSync(`/proc/self/${file}`);
  } catch {
    return null; // not Linux
  }
}
