import { isObject } from '../support/json.js';
import type { AnswerShape } from './answer-data.js';
import { quoteName } from './errors.js';
import { type PlainJson, parsePlain } from './exact-json.js';
import { isNestedBeyond, membersIn, memberText } from './json-tokens.js';
import { typeName } from './members.js';
import { resultCode } from './result-codes.js';
import { JsonNumber } from './user-info.js';

/** §1: the shape of every answer. */
export interface Envelope<Data = Record<string, unknown>> {
  /** 200 means success (§7.1). */
  readonly code: number;
  /**
   * "ok" on success. If a refusal has no `msg`: its `message` or `error` if that is text, else
   * empty.
   */
  readonly msg: string;
  /** What the operation returned. */
  readonly data: Data;
}

/** The `Content-Type` of JSON: of an envelope, and of the other answers of a service. */
export const jsonContentType = 'application/json; charset=utf-8';

/**
 * Maximum nesting of an answer's JSON: §4 needs 4 levels, and code that prints an answer may be
 * recursive.
 */
const maxLevels = 100;

/** §7.1: `msg` of a success. */
const okMessage = 'ok';

/**
 * The envelope of a success, as JSON text. With `values` as written, `data` may hold JsonNumbers.
 */
export function formatSuccess(data: object, values: AnswerShape['values']): string {
  const envelope = { code: resultCode.ok, msg: okMessage, data };
  if (values === 'text') return JSON.stringify(envelope);
  return stringify(envelope);
}

/** JSON.stringify, with each JsonNumber as it is written. */
function stringify(value: unknown): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${stringify(member)}`,
  );
  return `{${members.join(',')}}`;
}

/** The values of `data` of a refusal, by what a platform file calls them. */
export const refusalData = { object: {}, list: [], null: null, omit: undefined } as const;

/** The envelope of a failure, as JSON text. */
export function formatFailure(code: number, msg: string, data: keyof typeof refusalData): string {
  return JSON.stringify({ code, msg, data: refusalData[data] });
}

/** Why a body is not an envelope, and its members if it is a JSON object. */
export interface NotEnvelope {
  readonly fault: string;
  readonly members?: Readonly<Record<string, unknown>>;
}

/** An envelope, and where it does not have the types of §1 and §4. */
export interface ParsedEnvelope {
  readonly envelope: Envelope;
  readonly warnings: readonly string[];
}

/**
 * Parses a body into the envelope of §1, or returns why it is none. Its `code` may be digits in a
 * text, its `msg` missing, and `union_id` of its data a whole number: a success that is not taken
 * costs its authorization code. §7.2 does not show failures, and gateways have their own: a failure
 * may have no `data`, or one that is not an object, which then is `{}`.
 */
export function parseEnvelope(text: string): ParsedEnvelope | NotEnvelope {
  if (text.trim() === '') return { fault: 'an empty body' };
  // Checked first: JSON.parse takes 10 seconds for 8 million levels.
  if (/^\s*[[{]/.test(text) && isNestedBeyond(text, maxLevels))
    return { fault: `JSON nested deeper than ${maxLevels} levels` };
  let parsed: PlainJson;
  try {
    parsed = parsePlain(text);
  } catch {
    return { fault: 'a body that is not JSON' };
  }
  const { value: members, textPaths } = parsed;
  if (!isObject(members)) return { fault: 'JSON that is not an object' };
  if (couldRepeat(text, envelopeNames) && hasDuplicateMember(text, envelopeNames))
    return { fault: 'JSON with a duplicate "code", "msg" or "data"' };
  const code = codeOf(members.code);
  if (code === null) return { fault: 'JSON without an integer "code"', members };
  const { data } = members;
  if (code !== resultCode.ok) {
    const envelope = { code, msg: msgOf(members), data: isObject(data) ? data : {} };
    return { envelope, warnings: numberWarnings(textPaths) };
  }
  if (!isObject(data)) return { fault: 'a success without an object "data"', members };
  if (couldRepeat(text, idName) && hasDuplicateMember(memberText(text, 'data') ?? '', idName))
    return { fault: 'a success with a duplicate "union_id"', members };
  const warnings = [...successWarnings(members)];
  const numericId = numericUserId(data.union_id, textPaths);
  if (typeof numericId === 'string') warnings.push('"union_id" is a number, not text');
  warnings.push(...numberWarnings(textPaths));
  const readData = numericId === null ? data : { ...data, union_id: numericId };
  return { envelope: { code, msg: msgOf(members), data: readData }, warnings };
}

/**
 * A `union_id` that was sent as a number: the digits of a whole number, as text; any other number
 * as it is. `null` if it was not sent as a number.
 */
function numericUserId(value: unknown, textPaths: readonly string[]): string | number | null {
  const isNumber = typeof value === 'number' || textPaths.includes('data.union_id');
  if (!isNumber) return null;
  const digits = String(value);
  return /^-?\d+$/.test(digits) ? digits : Number(value);
}

/** Where `code` and `msg` of a success do not have the types and values of §1. */
function* successWarnings({ code, msg }: Readonly<Record<string, unknown>>): Generator<string> {
  if (typeof code === 'string') yield '"code" is text, not an integer';
  if (msg === undefined) yield '"msg" is missing';
  else if (typeof msg !== 'string') yield `"msg" is ${typeName(msg)}, not text`;
  else if (msg !== okMessage) yield '"msg" is not "ok"';
}

/** Maximum number of numbers that warnings name. */
const maxNumbersNamed = 10;

/** Where `data` has text in place of a number. */
function numberWarnings(textPaths: readonly string[]): readonly string[] {
  if (textPaths.length === 0) return [];
  const paths = textPaths
    .filter((path) => path.startsWith('data.') && path !== 'data.union_id')
    .map((path) => path.slice('data.'.length));
  const warnings = paths
    .slice(0, maxNumbersNamed)
    .map(
      (path) =>
        `${quoteName(path)} is a number that JavaScript cannot hold exactly: read it as text`,
    );
  if (paths.length > maxNumbersNamed)
    warnings.push('more numbers that JavaScript cannot hold exactly: read them as text');
  return warnings;
}

/** The code of an envelope, an integer or its digits in a text; `null` if there is none. */
function codeOf(value: unknown): number | null {
  if (Number.isSafeInteger(value)) return Number(value);
  if (typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value)) return Number(value);
  return null;
}

/**
 * The text of an answer: its `msg`, else its `message` or `error`; empty if none of them is text.
 */
export function msgOf({ msg, message, error }: Readonly<Record<string, unknown>>): string {
  return [msg, message, error].find((text) => typeof text === 'string') ?? '';
}

const envelopeNames = ['code', 'msg', 'data'];
const idName = ['union_id'];

/** Whether one of these names may be twice in a JSON text. In most answers none is. */
function couldRepeat(json: string, names: readonly string[]): boolean {
  if (json.includes('\\u')) return true; // an escape may be in a name
  return names.some((name) => json.indexOf(`"${name}"`) !== json.lastIndexOf(`"${name}"`));
}

/**
 * Whether the object in a JSON text has one of these members twice. JSON.parse takes the last one,
 * other parsers the first: the meaning of such an answer depends on the parser.
 */
function hasDuplicateMember(json: string, names: readonly string[]): boolean {
  const keys = [...membersIn(json)].map(({ key }) => key).filter((key) => names.includes(key));
  return new Set(keys).size < keys.length;
}
