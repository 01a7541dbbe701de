import { escapeUnsafe } from '../../support/unsafe-characters.js';

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text from anywhere as one line that is safe to show: what would act on a terminal is an escape. */
export function showText(text: string): string {
  return escapeUnsafe(text.toWellFormed().replace(/[\n\r\t]/g, (character) => short[character] ?? ''));
}

/** Data as a terminal is given it: of what acts there, only line feeds and tabs stay. */
export function showData(data: string): string {
  return escapeUnsafe(data, '\n\t');
}
