import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { InvalidInputError } from '../core/contract/errors.js';
import type { Io } from './io.js';

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
