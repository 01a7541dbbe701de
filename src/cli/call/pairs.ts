import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import { pasteFault } from '../../protocol/pasted-text.js';
import { escapeUnsafe } from '../../protocol/unsafe-text.js';
import { type FlatValue, JsonNumber, specialUserInfoKeys, valueFault } from '../../protocol/user-info.js';
import { jsonValueOf } from '../../support/json-value.js';
import { isSlip } from '../../support/nearest-name.js';
import { quoteWhereNeeded } from '../../support/shell.js';
import type { CliContext } from '../command.js';
import { type Io, readNamedFile } from '../io.js';
import { warn } from '../output/style.js';
import { asTheyAre, refusePasted, retyped } from './refuse-pasted.js';

type Typed = Pick<CliContext, 'io' | 'args'>;

/**
 * Parses the pairs of `userinfo passback`, in the style of HTTPie: `key=text`, `key:=json`, `key=@file`,
 * `key:=@file`. In a key, a backslash escapes a following `=` or `:`. A text that begins with `@`, or with
 * backslashes and `@`, is written with one more backslash: `key=\@text`. Warns of a doubtful text.
 *
 * @throws InvalidInputError that names the key
 */
export async function parsePairs(context: Typed, pairs: readonly string[]): Promise<Map<string, unknown>> {
  const userInfo = new Map<string, unknown>();
  for (const [index, pair] of pairs.entries()) {
    const { key, isJson, value } = splitPair(context, pair, pairs[index - 1], pairs[index + 1]);
    if (userInfo.has(key)) {
      throw new InvalidInputError(`the key ${quoteName(key)} is given twice`, {
        hint: 'Remove one of the two.',
      });
    }
    const isFile = value.startsWith('@');
    const text = isFile
      ? await readNamedFile(
          value.slice(1),
          `the file ${quoteName(value.slice(1))} of key ${quoteName(key)}`,
          { hint: 'For a text that starts with @, write key=\\@text.' },
        )
      : value.replace(/^\\(\\*@)/, '$1');
    if (!isJson) await judgeText(context, isFile ? null : pair, key, text);
    userInfo.set(key, isJson ? parseScalar(key, text) : text);
  }
  return userInfo;
}

/** Refuses, or warns of, a text that was probably not meant so. */
async function judgeText(
  { io, args }: Typed,
  typed: string | null,
  key: string,
  text: string,
): Promise<void> {
  const what = `the value of key ${quoteName(key)}`;
  const before = typed?.slice(0, typed.indexOf('=')) ?? '';
  const asJson = (json: string) => `${before}:=${json}`;
  if (text === '') {
    throw new InvalidInputError(`${what} is empty: is the variable set?`, {
      hint: 'To store an empty value, or to remove the key:',
      commands: ['""', 'null'].flatMap((json) => retyped(args, typed, asJson(json))),
    });
  }
  const fault = valueFault(key, text, 'pair');
  if (fault === null) return;
  if (fault.isDoubt) return warn(io, `${what} ${fault.what}`);
  const without = fault.meant === null ? [] : retyped(args, typed, ...`${before}=${fault.meant}`.split('\0'));
  refusePasted(what, fault, without, retyped(args, typed, asJson(escapeUnsafe(JSON.stringify(text)))));
}

/**
 * Refuses keys that were pasted with something, and damaged numbers in JSON; a text in quotes is meant.
 *
 * @throws InvalidInputError that names the key
 */
export async function judgeEntries(
  { io, args }: Typed,
  pairs: readonly string[],
  userInfo: ReadonlyMap<string, FlatValue>,
): Promise<void> {
  for (const [key, value] of userInfo) {
    const ofKey = pasteFault(key, 'name');
    const ofValue = typeof value === 'string' ? null : valueFault(key, value, 'pair');
    const what = ofKey === null ? `the value of key ${quoteName(key)}` : `the key ${quoteName(key)}`;
    const fault = ofKey ?? ofValue;
    if (fault?.isDoubt) await warn(io, `${what} ${fault.what}`);
    else if (fault !== null)
      refusePasted(what, fault, renamed(args, pairs, key, ofKey?.meant ?? null), asTheyAre(args));
  }
}

/** The command line with another key in the pair that has it. */
export function renamed(
  args: readonly string[],
  pairs: readonly string[],
  key: string,
  meant: string | null,
): string[] {
  const pair = pairs.find((one) => one.startsWith(key) && /^:?=/.test(one.slice(key.length)));
  return pair === undefined || meant === null ? [] : retyped(args, pair, meant + pair.slice(key.length));
}

function splitPair(
  { args }: Typed,
  pair: string,
  before?: string,
  after?: string,
): { key: string; isJson: boolean; value: string } {
  const found = /^((?:\\[=:]|\\(?![=:])|[^=:\\]|:(?!=))*)(:?=)(.*)$/s.exec(pair);
  const [, key = '', separator, value = ''] = found ?? [];
  if (key === '') {
    const instead = asPair(pair);
    throw new InvalidInputError(`${quoteName(pair.slice(0, 20))} is not a pair with a key`, {
      ...(instead === null
        ? { hint: unpairedHint(pair, before, after) }
        : { hint: 'As a pair:', commands: retyped(args, pair, ...instead) }),
    });
  }
  return { key: key.replace(/\\([=:])/g, '$1'), isJson: separator === ':=', value };
}

/** The arguments for a member of JSON or YAML, or for a pair with the equals sign of another script. */
function asPair(text: string): string[] | null {
  const [, key = '', sign, rest = ''] =
    /^[{\s]*["']?([A-Za-z_][\w.-]*)["']?\s?([:=])([^{}]*)\}?$/.exec(text.normalize('NFKC').trim()) ?? [];
  const value = rest.trim().replace(/,$/, '');
  const bare = value.replace(/^(["'])(.*)\1$/s, '$2');
  if (bare === '' || /[:,]/.test(bare)) return null;
  if (key === 'union_id') return ['--union-id', bare];
  const isJson = sign === ':' && /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/.test(value);
  return [isJson ? `${key}:=${value}` : `${key}=${bare}`];
}

/** The probable mistake in an argument that is not a pair, by its neighbours. */
function unpairedHint(pair: string, before = '', after = ''): string {
  if (/^:?=/.test(after)) return `Write a pair without spaces: ${pair.slice(0, 20)}${after.slice(0, 2)}…`;
  const [, key, separator] = /^([^=:]+)(=)/.exec(before) ?? [];
  if (key !== undefined)
    return `Quote a text with spaces: ${quoteWhereNeeded(`${key}${separator}two words`)}\nA user is named by --union-id.`;
  return 'Write key=text, key:=json (a number, true, false or null), or key=@file.';
}

/** The value of a pair in JSON, a number as it is written. */
function parseScalar(key: string, json: string): unknown {
  const value = jsonValueOf(json);
  if (value !== undefined) return typeof value === 'number' ? new JsonNumber(json.trim()) : value;
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

/** The fault of a key that is probably a misspelt special one (§4.2 rule 4); `null` with the tenant's prefix. */
export function misspeltKey(key: string, prefix: string | null): ReturnType<typeof misspelt> {
  return prefix !== null && key.startsWith(prefix) ? null : misspelt(key, Object.keys(specialUserInfoKeys));
}

/** The fault of a name that is one of `special` but for case, `-` for `_`, and a slip; `null` if it is one of them. */
export function misspelt(name: string, special: readonly string[]): { what: string; meant: string } | null {
  const written = name.trim().toLowerCase().replaceAll('-', '_');
  // Many short words are one letter away from each other.
  const meant = special.find((one) => written === one || (one.length >= 4 && isSlip(written, one)));
  if (meant === undefined || special.includes(name)) return null;
  return { what: `has no special meaning: did you mean ${quoteName(meant)}?`, meant };
}
