// Apart from print.ts: only a table needs it.
import { resultCode } from '../../protocol/result-codes.js';
import { formatSections, showValue, type TableStyle } from './data-table.js';
import { isNested, isObject, parseLoosely } from './parsed-json.js';
import { formatTable } from './table.js';

/** Keys of `data` whose strings are JSON-encoded objects (§4.1, shape rule 3). */
const encodedKeys: readonly string[] = ['device_info', 'location_info'];

/**
 * Formats an envelope for a person: `code` and `msg`, then `data` in sections. `body` is the envelope as received;
 * numbers are shown as they are written there.
 */
export function formatEnvelopeTable(body: string, style: TableStyle): string {
  const { code, msg, data } = parseLoosely(body) as Record<string, unknown>;
  const paint = String(code) === String(resultCode.ok) ? style.colors.green : style.colors.red;
  const verdict = formatTable(
    [
      ['code', paint(showValue(code))],
      ['msg', paint(showValue(msg))],
    ],
    style.columns,
  );
  const fields = Object.entries(isObject(data) ? data : {});
  const decoded = fields.map(([key, value]) => [key, encodedKeys.includes(key) ? decode(value) : value]);
  return [verdict, ...formatSections(Object.fromEntries(decoded), 'data', style)].join('\n');
}

/** Decodes the strings of a list that are flat JSON objects; other strings stay as they are. */
function decode(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item) => {
    if (typeof item !== 'string') return item;
    try {
      const decoded = parseLoosely(item);
      return isObject(decoded) && !Object.values(decoded).some(isNested) ? decoded : item;
    } catch {
      return item;
    }
  });
}
