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

/** Blanks that look like a space or like nothing, and characters that are not seen. */
const unseen = /(?! )[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Text every character of which can be seen: a space as ␣, everything else that is invisible as an escape. */
export function showInvisible(text: string): string {
  return showText(text)
    .replace(unseen, (found) => `\\u${found.codePointAt(0)?.toString(16).padStart(4, '0')}`)
    .replaceAll(' ', '␣');
}
