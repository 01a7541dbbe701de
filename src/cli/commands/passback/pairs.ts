import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { JsonNumber, specialUserInfoKeys } from '../../../core/contract/user-info.js';
import { jsonValueOf } from '../../../core/support/json.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { readNamedFile } from '../../input.js';
import type { Io } from '../../io.js';
import { warn } from '../../output/style.js';

/**
 * Parses the pairs of `userinfo passback`, in the style of HTTPie: `key=text`, `key:=json`,
 * `key=@file`, `key:=@file`. In a key, two backslashes before `=` or `:` stand for one, and one
 * more makes the sign a part of the key. A text that begins with `@`, or with backslashes and `@`,
 * is written with one more backslash: `key=\@text`.
 *
 * @throws InvalidInputError that names the key
 */
export async function parsePairs(pairs: readonly string[]): Promise<Map<string, unknown>> {
  const userInfo = new Map<string, unknown>();
  for (const pair of pairs) {
    const { key, isJson, value } = splitPair(pair);
    if (userInfo.has(key)) {
      throw new InvalidInputError(`the key ${quoteName(key)} is given twice`, {
        hint: 'Remove one of the two.',
      });
    }
    if (value === '' && !isJson) throw emptyValue(key);
    const text = await readPairText(key, value);
    userInfo.set(key, isJson ? parseScalar(key, text) : text);
  }
  return userInfo;
}

/** A variable that is not set must not wipe a value. */
function emptyValue(key: string): InvalidInputError {
  const storesEmpty = quoteWhereNeeded(`${key}:=""`);
  const removes = quoteWhereNeeded(`${key}:=null`);
  const message = `the value of key ${quoteName(key)} is empty: is the variable set?`;
  return new InvalidInputError(message, {
    hint: `Write ${storesEmpty} to store an empty text, ${removes} to remove the key.`,
  });
}

/** The text after the sign of a pair, or the content of the file that it names. */
async function readPairText(key: string, value: string): Promise<string> {
  if (!value.startsWith('@')) return value.replace(/^\\(\\*@)/, '$1');
  const file = value.slice(1);
  return readNamedFile(file, `the file ${quoteName(file)} of key ${quoteName(key)}`, {
    hint: 'For a text that starts with @, write key=\\@text.',
  });
}

interface Pair {
  readonly key: string;
  /** Whether the sign is `:=`. */
  readonly isJson: boolean;
  readonly value: string;
}

/**
 * Splits a pair at its sign, the first that no odd number of backslashes precedes.
 *
 * @throws InvalidInputError if there is no sign, or no key before it
 */
function splitPair(pair: string): Pair {
  for (const match of pair.matchAll(/(?<slashes>(?<!\\)\\*)(?<sign>:?=)/g)) {
    const { slashes = '', sign } = match.groups ?? {};
    const isEscaped = slashes.length % 2 === 1;
    if (isEscaped && sign === '=') continue;
    // An escaped `:=` is a `:` of the key and the sign `=`.
    const keyEnd = match.index + slashes.length + (isEscaped ? ':'.length : 0);
    const key = unescapeKey(pair.slice(0, keyEnd));
    if (key === '') break;
    const value = pair.slice(match.index + match[0].length);
    return { key, isJson: sign === ':=' && !isEscaped, value };
  }
  throw notPair(pair);
}

function notPair(pair: string): InvalidInputError {
  const message = `${quoteName(pair.slice(0, 20))} is not a pair such as key=text`;
  if (pair.startsWith('{')) {
    return new InvalidInputError(message, {
      hint: `A JSON object is the value of an option: --user-info '{"acme_level":"gold"}'`,
    });
  }
  return new InvalidInputError(message, {
    hint: 'Write key=text, key:=json (a number, true, false or null), or key=@file. Quote a text with spaces.',
  });
}

function unescapeKey(text: string): string {
  return text.replace(/(?<!\\)\\+(?=[=:]|$)/g, (slashes) => slashes.slice(0, slashes.length / 2));
}

/** The value of a pair in JSON, a number as it is written. */
function parseScalar(key: string, json: string): unknown {
  const value = jsonValueOf(json);
  if (typeof value === 'number') return new JsonNumber(json.trim());
  if (value !== undefined) return value;
  const plainText = quoteWhereNeeded(`${key}=text`);
  throw new InvalidInputError(`the value of key ${quoteName(key)} is not a JSON value`, {
    hint: `Write := for a number, true, false, null or "quoted text"; for plain text write ${plainText}`,
  });
}

/** Warns of custom keys without the tenant's prefix, if the profile has one (§4.2 rule 6). */
export async function warnOfKeys(
  io: Io,
  keys: Iterable<string>,
  prefix: string | null,
): Promise<void> {
  if (prefix === null) return;
  for (const key of keys) {
    if (key.startsWith(prefix) || Object.hasOwn(specialUserInfoKeys, key)) continue;
    await warn(
      io,
      `key ${quoteName(key)} does not begin with the prefix ${quoteName(prefix)} of the profile`,
    );
  }
}
