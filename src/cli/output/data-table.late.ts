import { stringify } from 'lossless-json';
import { isNested, isRecord, type Nested, parseExact } from '../../core/contract/exact-json.js';
import { resultCode } from '../../core/contract/result-codes.js';
import { jsonValueOf } from '../../core/support/json.js';
import { formatCount } from './numbers.js';
import type { OutputStyle } from './style.js';
import { formatTable, leftOut, maxCells, maxLength, maxLines } from './table.js';
import { showInvisible, showText } from './terminal-text.js';

type TableStyle = Pick<OutputStyle, 'colors' | 'columns'>;

/** Maximum number of characters shown of one value. */
const maxValueLength = 8_192;

/** Keys of `data` whose strings are JSON-encoded objects (§4.1, shape rule 3). */
const encodedKeys: readonly string[] = ['device_info', 'location_info'];

/**
 * Formats an envelope for a person: `code` and `msg` in a line, then `data` in sections, then what
 * else the platform put beside them, such as `request_id`. `body` is the envelope as received;
 * numbers are shown as they are written there.
 */
export function formatEnvelopeTable(body: string, style: TableStyle): string {
  const { code, msg, ...rest } = parseExact(body) as Record<string, unknown>;
  const color = String(code) === String(resultCode.ok) ? 'green' : 'red';
  const words = [showValue(code)];
  if (typeof msg === 'string') words.push(showValue(msg));
  const verdict = `${style.colors[color](words.join(' '))}\n`;
  const { data, ...others } = rest;
  if (data === undefined || data === null)
    return verdict + formatSections(others, 'envelope', style).join('\n');
  if (!isRecord(data)) return verdict + formatSections(rest, 'envelope', style).join('\n');
  const sections = [
    ...formatSections(withDecodedLists(data), 'data', style),
    ...formatSections(others, 'envelope', style),
  ];
  return verdict + sections.join('\n');
}

function withDecodedLists(data: Record<string, unknown>): Record<string, unknown> {
  const decoded = { ...data };
  for (const key of encodedKeys) {
    const list = data[key];
    if (Array.isArray(list)) decoded[key] = list.map(decodeObject);
  }
  return decoded;
}

/** Decodes a string that is a flat JSON object; anything else stays as it is. */
function decodeObject(item: unknown): unknown {
  if (typeof item !== 'string' || jsonValueOf(item) === undefined) return item;
  const object = parseExact(item);
  if (!isRecord(object) || Object.values(object).some(isNested)) return item;
  return object;
}

/**
 * The records of a command in the words of a person: `yes` for `true`; local times for Unix times
 * in seconds, which are the fields `at`, `*_at` and `*_until`.
 */
export function inWords(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(inWords);
  if (!isRecord(data)) return data;
  const fields = Object.entries(data).map(([name, value]) => [name, fieldInWords(name, value)]);
  return Object.fromEntries(fields);
}

function fieldInWords(name: string, value: unknown): unknown {
  if (value === true) return 'yes';
  if (value === false) return 'no';
  const isTime = /(?:^|_)(?:at|until)$/.test(name) && Number(value) > 0;
  return isTime ? timeInWords(Number(value)) : value;
}

const units = [
  { name: 'days', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
] as const;

/** `in 4 min` for a time to come, else the local date and time. */
export function timeInWords(unixSeconds: number): string {
  const secondsLeft = unixSeconds - Date.now() / 1000;
  if (secondsLeft <= 0) return new Date(unixSeconds * 1000).toLocaleString('sv');
  const unit = units.find(({ seconds }) => secondsLeft >= 2 * seconds) ?? { name: 's', seconds: 1 };
  return `in ${Math.round(secondsLeft / unit.seconds)} ${unit.name}`;
}

/**
 * Formats data for a person: an object in sections, a list of objects as one row per object, any
 * other list as one row per entry, a single value as its text.
 */
export function formatDataTable(data: unknown, style: TableStyle): string {
  if (!isNested(data)) return `${showValue(data)}\n`;
  if (Object.keys(data).length === 0 || Array.isArray(data)) return formatNested(data, style);
  return formatSections(data, null, style).join('\n');
}

/**
 * Formats an object in sections: its single values first, under `name` if it is not null, then each
 * nested object or list under its key.
 */
function formatSections(
  object: Record<string, unknown>,
  name: string | null,
  style: TableStyle,
): string[] {
  const plain = Object.entries(object).filter(([, value]) => !isNested(value));
  const nested = Object.entries(object).filter((entry): entry is [string, Nested] =>
    isNested(entry[1]),
  );
  const { bold } = style.colors;
  const title = name === null ? '' : `${bold(name)}\n`;
  const sections: string[] = [];
  if (plain.length > 0) sections.push(title + formatNested(Object.fromEntries(plain), style));
  let length = 0;
  for (const [index, [key, value]] of nested.entries()) {
    if (length >= maxLength) return [...sections, leftOut(nested.length - index, 'sections')];
    const section = `${bold(showValue(key))}\n${formatNested(value, style)}`;
    length += section.length;
    sections.push(section);
  }
  return sections;
}

/**
 * Formats an object as keys and values, a list as one row per entry: of an object, its fields are
 * the columns.
 */
function formatNested(value: Nested, { columns }: TableStyle): string {
  const entries = Object.entries(value);
  if (entries.length === 0) return '(none)\n';
  if (!Array.isArray(value)) {
    const rows = entries.slice(0, maxLines).map((entry) => entry.map(showValue));
    return formatTable(rows, columns, [], entries.length);
  }
  const shown: unknown[] = value.slice(0, maxLines);
  if (!shown.every(isRecord)) {
    const rows = shown.map((entry) => [entry].flat().map(showValue));
    return formatTable(rows, columns, [], value.length);
  }
  const head = [...new Set(shown.flatMap((record) => Object.keys(record)))];
  // A record may lack a field that others have.
  const showField = (record: Record<string, unknown>, name: string) =>
    Object.hasOwn(record, name) ? showValue(record[name] ?? '') : '';
  const rows = shown.map((record) =>
    head.slice(0, maxCells).map((name) => showField(record, name)),
  );
  return formatTable(rows, columns, head.map(showValue), value.length);
}

/** Blanks at the ends of a value, which nobody would see. */
const outerBlanks = /^[\s\p{Z}]+|(?<![\s\p{Z}])[\s\p{Z}]+$/gu;

/**
 * Formats a value as text that is safe to show; a long text is cut, with the number of characters
 * that are left out.
 */
function showValue(value: unknown): string {
  const text = isNested(value) ? (stringify(value) ?? '') : String(value);
  if (text.length <= maxValueLength) return showText(text).replace(outerBlanks, showInvisible);
  const more = formatCount(text.length - maxValueLength);
  return `${showText(text.slice(0, maxValueLength))}… (${more} more characters; -o json prints everything)`;
}
