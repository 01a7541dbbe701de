/** A text as a literal in double quotes; `write` is for a code point that is not printable ASCII. */
export function quoted(text: string, write: (code: number) => string, special = '\\"'): string {
  const parts = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (special.includes(character)) return `\\${character}`;
    if (character === '\n') return '\\n';
    return code >= 0x20 && code < 0x7f ? character : write(code);
  });
  return `"${parts.join('')}"`;
}

/** `write` of `quoted` for literals in UTF-16: a code point beyond the first plane is two units. */
export function utf16Escape(code: number): string {
  return String.fromCodePoint(code)
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('');
}

export function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
