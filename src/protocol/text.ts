/**
 * What makes a text one that could only be stored damaged (§4.2 rule 7; design.md, "The gaps of the spec"):
 * U+0000 or half of a surrogate pair. `null` means that it is sound.
 */
export function textFault(text: string): string | null {
  if (text.includes('\0')) return 'holds U+0000';
  return text.isWellFormed() ? null : 'holds an unpaired surrogate';
}

/** A name in quotes for a message: control characters escaped, long names cut. */
export function quoteName(name: string): string {
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  return escapeControls(JSON.stringify(shown));
}

/**
 * A text that cannot act on a terminal or break a line: control characters, and those that change the direction of
 * writing or hide, are written `\u001b`.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
