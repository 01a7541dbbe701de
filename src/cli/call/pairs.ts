import { InvalidInputError } from '../../protocol/errors.js';
import { isNoValue, pasteFault } from '../../protocol/pasted-text.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import {
  FlatJsonError,
  type FlatValue,
  identifyingKeys,
  isDamagedNumber,
  JsonNumber,
  parseFlatJson,
  pastedKeyFault,
  pastedKindOf,
  specialUserInfoKeys,
} from '../../protocol/user-info.js';
import { isSlip } from '../../support/nearest-name.js';
import { quoteWhereNeeded } from '../../support/shell.js';
import { readNamedFile } from '../input.js';
import type { Io } from '../io.js';
import { warn } from '../output/style.js';

/**
 * Parses the pairs of `userinfo passback`, in the style of HTTPie: `key=text`, `key:=json`, `key=@file`,
 * `key:=@file`. In a key, a backslash escapes a following `=` or `:`. A text that begins with `@`, or with
 * backslashes and `@`, is written with one more backslash: `key=\@text`. Warns of an empty text.
 *
 * @throws InvalidInputError that names the key
 */
export async function parsePairs(io: Io, pairs: readonly string[]): Promise<Map<string, FlatValue>> {
  const userInfo = new Map<string, FlatValue>();
  for (const [index, pair] of pairs.entries()) {
    const { key, isJson, value } = splitPair(pair, pairs[index - 1], pairs[index + 1]);
    if (userInfo.has(key)) {
      throw new InvalidInputError(`the key ${quoteName(key)} is given twice`, {
        hint: 'Remove one of the two.',
      });
    }
    const text = value.startsWith('@')
      ? await readNamedFile(
          value.slice(1),
          `the file ${quoteName(value.slice(1))} of key ${quoteName(key)}`,
          { hint: 'For a text that starts with @, write key=\\@text.' },
        )
      : value.replace(/^\\(\\*@)/, '$1');
    const parsed = isJson ? parseScalar(key, text) : text;
    if (!isJson) await judgeText(io, key, text);
    userInfo.set(key, parsed);
  }
  return userInfo;
}

/** Refuses, or warns of, a text that was probably not meant so. */
async function judgeText(io: Io, key: string, text: string): Promise<void> {
  if (text === '') return noteEmpty(io, key);
  if (identifyingKeys.includes(key) && isDamagedNumber(text)) throw damaged(key);
  if (text.startsWith('=')) {
    throw new InvalidInputError(`the value of key ${quoteName(key)} begins with "="`, {
      sent: 'nothing',
      hint: `Write ${key}=text for text, ${key}:=28 for JSON. If the = is meant: ${key}:='"=…"'`,
    });
  }
  const [, second] = /^[^\s,=]*,([A-Za-z_]\w*)(?::?=)[^=]*$/.exec(text) ?? [];
  if (second !== undefined) {
    throw new InvalidInputError(`the value of key ${quoteName(key)} has another pair: ${second}=…`, {
      sent: 'nothing',
      hint: `Put a space between pairs, not a comma. ${asText(key)}`,
    });
  }
  const kind = pastedKindOf(key);
  const fault = pasteFault(text, kind);
  if (fault === null) return;
  const message = `the value of key ${quoteName(key)} ${fault.what}`;
  if (kind === 'value' && !isNoValue(text)) return warn(io, message);
  const meant = fault.meant === null ? 'Correct it.' : `Write ${quoteWhereNeeded(`${key}=${fault.meant}`)}`;
  throw new InvalidInputError(message, { sent: 'nothing', hint: `${meant}\n${asText(key)}` });
}

/** How a text is written that is meant as it stands. */
function asText(key: string): string {
  return `To store this very text, write it as JSON: ${key}:='"…"'`;
}

/** The text of a pair is empty, most often because of a variable. */
async function noteEmpty(io: Io, key: string): Promise<void> {
  const message = `the value of key ${quoteName(key)} is empty: is the variable set?`;
  if (!Object.hasOwn(specialUserInfoKeys, key)) return warn(io, message);
  throw new InvalidInputError(message, {
    sent: 'nothing',
    hint: `To store an empty value, write ${key}:='""'; to remove the key, ${key}:=null.`,
  });
}

function damaged(key: string): InvalidInputError {
  return new InvalidInputError(
    `the value of key ${quoteName(key)} is a number that a spreadsheet damaged, like 1.38E+10 or 138.0`,
    {
      sent: 'nothing',
      hint: `Give all of its digits. To store this very text, write it in quotes: ${key}:='"…"'`,
    },
  );
}

/**
 * Refuses keys that were pasted with something, and damaged numbers in JSON; a text in quotes is meant.
 *
 * @throws InvalidInputError that names the key
 */
export function refuseSlips(userInfo: ReadonlyMap<string, FlatValue>): void {
  for (const [key, value] of userInfo) {
    const fault = pastedKeyFault(key);
    if (fault !== null) {
      const hint = 'Correct it: a key is read by its name alone.';
      throw new InvalidInputError(fault, { sent: 'nothing', hint });
    }
    if (value instanceof JsonNumber && identifyingKeys.includes(key) && isDamagedNumber(value))
      throw damaged(key);
  }
}

function splitPair(
  pair: string,
  before?: string,
  after?: string,
): { key: string; isJson: boolean; value: string } {
  const found = /^((?:\\[=:]|\\(?![=:])|[^=:\\]|:(?!=))*)(:?=)(.*)$/s.exec(pair);
  const [, key = '', separator, value = ''] = found ?? [];
  if (key === '') {
    throw new InvalidInputError(`${quoteName(pair.slice(0, 20))} is not a pair with a key`, {
      hint: unpairedHint(pair, before, after),
    });
  }
  return { key: key.replace(/\\([=:])/g, '$1'), isJson: separator === ':=', value };
}

/** The probable mistake in an argument that is not a pair, by its neighbours. */
function unpairedHint(pair: string, before = '', after = ''): string {
  if (/^:?=/.test(after)) return `Write a pair without spaces: ${pair.slice(0, 20)}${after.slice(0, 2)}…`;
  const [, key, separator] = /^([^=:]+)(=)/.exec(before) ?? [];
  if (key !== undefined)
    return `Quote a text with spaces: ${quoteWhereNeeded(`${key}${separator}two words`)}`;
  return 'Write key=text, key:=json (a number, true, false or null), or key=@file.';
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

/** Warns of custom keys without the tenant's prefix, if the profile has one (§4.2 rule 6). */
export async function warnOfKeys(io: Io, keys: Iterable<string>, prefix: string | null): Promise<void> {
  if (prefix === null) return;
  for (const key of keys) {
    if (key.startsWith(prefix) || Object.hasOwn(specialUserInfoKeys, key)) continue;
    await warn(
      io,
      `key ${quoteName(key)} does not begin with the prefix ${quoteName(prefix)} of the profile`,
    );
  }
}

/** The special key that was probably meant by a key (§4.2 rule 4); `null` if it is one, or has the tenant's prefix. */
export function meantKey(key: string, prefix: string | null): string | null {
  if (prefix !== null && key.startsWith(prefix)) return null;
  const special = Object.keys(specialUserInfoKeys);
  return special.includes(key) ? null : (special.find((one) => isSlipOf(key, one)) ?? null);
}

/** Whether a key is a special one but for case, `-` for `_`, and a slip. */
export function isSlipOf(key: string, special: string): boolean {
  const written = key.trim().toLowerCase().replaceAll('-', '_');
  // Many short words are one letter away from each other.
  return written === special || (special.length >= 4 && isSlip(written, special));
}
