/**
 * Returns why a text cannot be stored undamaged (§4.2 rule 7), or `null`: U+0000, or half of a
 * surrogate pair.
 */
export function textFault(text: string): string | null {
  if (text.includes('\0')) return 'holds U+0000';
  if (!text.isWellFormed()) return 'holds an unpaired surrogate';
  return null;
}

/**
 * Characters that control a terminal or invisibly change how text is displayed: controls (C0, DEL,
 * C1), bidirectional marks, line and paragraph separators, zero-width characters.
 */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Whether a text contains such a character. */
export function hasUnsafe(text: string): boolean {
  return text.search(unsafe) >= 0;
}

/** Replaces each of these characters, except those in `kept`, by an escape such as `\u001b`. */
export function escapeUnsafe(text: string, kept = ''): string {
  return text.replace(unsafe, (character) => {
    if (kept.includes(character)) return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
