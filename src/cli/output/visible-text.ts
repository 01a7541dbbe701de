import { showText } from './terminal-text.js';

/** Blanks that look like a space or like nothing, and characters that nothing is seen of. */
const unseen = /(?! )[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of which every character is to be seen: a space as ␣, all else that is invisible as an escape. */
export function showInvisible(text: string): string {
  return showText(text)
    .replace(unseen, (found) => `\\u${found.codePointAt(0)?.toString(16).padStart(4, '0')}`)
    .replaceAll(' ', '␣');
}
