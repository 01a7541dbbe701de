import { textFault } from '../../protocol/text.js';
import type { SqlValue } from './sql-driver.js';

/**
 * Checks what a statement is given, before a library cuts text at U+0000, takes `undefined` for null or rounds a
 * number. Throws a TypeError that names the place, not the value.
 */
export function checkValues(values: readonly SqlValue[]): void {
  for (const [index, value] of values.entries()) {
    const fault = typeof value === 'string' ? textFault(value) : null;
    if (fault !== null) throw new TypeError(`the text for $${index + 1} ${fault}`);
    if (typeof value !== 'string' && value !== null && !Number.isSafeInteger(value)) {
      throw new TypeError(`the value for $${index + 1} is not text, a safe integer or null`);
    }
  }
}
