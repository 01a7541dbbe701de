/**
 * Characters that act on a terminal instead of showing on it: control characters, and those that change the
 * direction of writing or hide.
 */
const acting = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text from anywhere, safe to show: what would act on the terminal is written as an escape. */
export function showText(text: string): string {
  return text
    .toWellFormed()
    .replace(
      acting,
      (character) => short[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
