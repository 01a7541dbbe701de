import { distance } from 'fastest-levenshtein';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { FlatJsonError, type FlatValue, parseFlatJson, specialUserInfoKeys } from '../protocol/user-info.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { readNamedFile } from './input.js';
import type { Io } from './io.js';
import { warn } from './output/style.js';

/**
 * Parses the pairs of `userinfo passback`, in the style of HTTPie: `key=text`, `key:=json`, `key=@file`,
 * `key:=@file`. In a key, a backslash escapes a following `=` or `:`. A text that begins with `@`, or with
 * backslashes and `@`, is written with one more backslash: `key=\@text`.
 *
 * @throws InvalidInputError that names the key
 */
export async function parsePairs(pairs: readonly string[]): Promise<Map<string, FlatValue>> {
  const userInfo = new Map<string, FlatValue>();
  for (const pair of pairs) {
    const { key, isJson, value } = splitPair(pair);
    if (userInfo.has(key)) throw new InvalidInputError(`the key ${quoteName(key)} is given twice`);
    const text = value.startsWith('@')
      ? await readNamedFile(
          value.slice(1),
          `the file ${quoteName(value.slice(1))} of key ${quoteName(key)}`,
          { hint: 'For a text that starts with @, write key=\\@text.' },
        )
      : value.replace(/^\\(\\*@)/, '$1');
    userInfo.set(key, isJson ? parseScalar(key, text) : text);
  }
  return userInfo;
}

function splitPair(pair: string): { key: string; isJson: boolean; value: string } {
  const found = /^((?:\\[=:]|[^=:]|:(?!=))*)(:?=)(.*)$/s.exec(pair);
  const [, key = '', separator, value = ''] = found ?? [];
  if (key === '') {
    throw new InvalidInputError(`${quoteName(pair.slice(0, 20))} is not a pair with a key`, {
      hint: 'Write key=text, key:=json (a number, true, false or null), or key=@file.',
    });
  }
  return { key: key.replace(/\\([=:])/g, '$1'), isJson: separator === ':=', value };
}

function parseScalar(key: string, json: string): FlatValue {
  try {
    const [entry, ...more] = parseFlatJson(`{${JSON.stringify(key)}:${json}}`);
    if (entry !== undefined && more.length === 0) return entry[1];
  } catch (error) {
    if (!(error instanceof FlatJsonError)) throw error;
    if (error.isNested) {
      throw new InvalidInputError(`user_info ${error.message}`, {
        hint: 'Give a pair for each value, or the whole as text: key=text.',
      });
    }
  }
  throw new InvalidInputError(`the value of key ${quoteName(key)} is not a JSON value`, {
    hint: `Write := for a number, true, false, null or "quoted text"; for plain text write ${quoteWhereNeeded(`${key}=text`)}`,
  });
}

/**
 * Warns of custom keys that are probably mistakes: one letter away from a special key, or without the tenant's prefix,
 * if the profile has one (§4.2 rules 4 and 6).
 */
export async function warnOfKeys(io: Io, keys: Iterable<string>, prefix: string | null): Promise<void> {
  const special = Object.keys(specialUserInfoKeys);
  for (const key of keys) {
    const hasPrefix = prefix !== null && key.startsWith(prefix);
    if (hasPrefix || special.includes(key)) continue;
    const meant = special.find((one) => isSlipOf(key, one));
    const why =
      meant === undefined
        ? prefix && `does not begin with the prefix ${quoteName(prefix)} of the profile`
        : `has no special meaning: did you mean ${quoteName(meant)}?`;
    if (why !== null) await warn(io, `key ${quoteName(key)} ${why}`);
  }
}

/** Whether two keys differ by case, by `-` for `_`, by one letter, or by two neighbours that are swapped. */
function isSlipOf(key: string, special: string): boolean {
  const written = key.trim().toLowerCase().replaceAll('-', '_');
  if (written === special) return true;
  // Many short words are one letter away from each other.
  if (special.length < 4) return false;
  const edits = distance(written, special);
  return edits === 1 || (edits === 2 && [...written].sort().join('') === [...special].sort().join(''));
}
