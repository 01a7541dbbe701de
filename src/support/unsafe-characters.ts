/**
 * Characters that act on a terminal, or change how a text reads without being seen: controls (C0, DEL, C1), marks
 * that change the direction of writing, line and paragraph separators, and characters of no width.
 */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Whether a text holds such a character. */
export function hasUnsafe(text: string): boolean {
  return text.search(unsafe) >= 0;
}

/** The text with each of these characters as an escape such as `\u001b`, but for those in `kept`. */
export function escapeUnsafe(text: string, kept = ''): string {
  return text.replace(unsafe, (character) =>
    kept.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
