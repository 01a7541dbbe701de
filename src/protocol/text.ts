import { escapeUnsafe } from '../support/unsafe-characters.js';

/** Returns why a text cannot be stored undamaged (§4.2 rule 7), or `null`: U+0000, or half of a surrogate pair. */
export function textFault(text: string): string | null {
  if (text.includes('\0')) return 'holds U+0000';
  return text.isWellFormed() ? null : 'holds an unpaired surrogate';
}

/** A name in quotes for a message: control characters escaped, long names truncated. */
export function quoteName(name: string): string {
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  return escapeUnsafe(JSON.stringify(shown));
}
