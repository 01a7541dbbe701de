// Apart from print.ts: only a table needs it.
import { resultCode } from '../../protocol/result-codes.js';
import { formatSections, showValue, type TableStyle } from './data-table.js';
import { isNested, isObject, parseLoosely } from './parsed-json.js';
import { formatTable } from './table.js';

/** Keys of `data` whose strings are JSON-encoded objects (§4.1, shape rule 3). */
const encodedKeys: readonly string[] = ['device_info', 'location_info'];

/**
 * The envelope as a person reads it: `code` and `msg`, then `data` section by section. `body` is the envelope as
 * received; numbers are shown as they were written.
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

/** The flat objects that the strings of a list encode; a string that encodes none stays as it is. */
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
