import { escapeUnsafe } from '../support/unsafe-characters.js';

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
  return escapeUnsafe(JSON.stringify(shown));
}
