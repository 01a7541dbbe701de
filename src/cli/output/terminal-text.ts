import { escapeUnsafe } from '../../core/contract/unsafe-text.js';

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Makes text one line that is safe on a terminal: line breaks, tabs and control characters are
 * escaped.
 */
export function showText(text: string): string {
  return escapeUnsafe(
    text.toWellFormed().replace(/[\n\r\t]/g, (character) => short[character] ?? ''),
  );
}

/** Makes data safe on a terminal: escapes control characters except line feeds and tabs. */
export function showData(data: string): string {
  return escapeUnsafe(data, '\n\t');
}

/** Blanks other than a space, and invisible characters. */
const unseen = /(?! )[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Makes every character visible: a space as ␣, other invisible characters as escapes. */
export function showInvisible(text: string): string {
  return showText(text)
    .replace(unseen, (character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return `\\u${codePoint.toString(16).padStart(4, '0')}`;
    })
    .replaceAll(' ', '␣');
}
