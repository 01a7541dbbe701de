/**
 * Encodes a query string or an `application/x-www-form-urlencoded` body (§4) so that every decoder
 * reads the same: RFC 3986, a space as `%20`. Text must be well formed: see `textFault`.
 */
export function encodePairs(
  pairs: Iterable<readonly [name: string, value: string, ...unknown[]]>,
): string {
  const parts: string[] = [];
  for (const [name, value] of pairs) parts.push(`${encodeText(name)}=${encodeText(value)}`);
  return parts.join('&');
}

/** Text that needs no encoding, as most values. */
const bare = /^[\w.~-]*$/;

/** Encodes one name or value, as `encodePairs` does. */
export function encodeText(text: string): string {
  if (bare.test(text)) return text;
  return encodeURIComponent(text).replace(/[!'()*]/g, percent);
}

/** The percent escape of an ASCII character. */
export function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** A received name and value: `null` for a broken escape, or bytes that are not UTF-8. */
export type DecodedPair = readonly [name: string | null, value: string | null];

/** The number of pairs that `decodePairs` would return, at most, without decoding them. */
export function countPairs(text: string): number {
  let count = 1;
  for (let index = text.indexOf('&'); index >= 0; index = text.indexOf('&', index + 1)) count += 1;
  return count;
}

/**
 * Decodes a query string or a form body, in the order in which it was sent: `+` is a space, a part
 * without `=` has an empty value.
 */
export function decodePairs(text: string): DecodedPair[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map(decodePair);
}

function decodePair(part: string): DecodedPair {
  const equalSign = part.indexOf('=');
  if (equalSign < 0) return [decodePart(part), ''];
  return [decodePart(part.slice(0, equalSign)), decodePart(part.slice(equalSign + 1))];
}

/** Text that needs no decoding, as most names and values. */
const plain = /^[^%+]*$/;

const [plus, space] = Buffer.from('+ ');

/** `+` as space: byte by byte, ten times as fast as replaceAll for a body of nothing but `+`. */
function spaced(text: string): string {
  const bytes = Buffer.from(text);
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === plus) bytes[index] = space ?? 0;
  }
  return bytes.toString();
}

/** The text with its percent escapes decoded; the text itself where they are not UTF-8. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return decodeEscapes(text) ?? text;
}

function decodePart(text: string): string | null {
  if (plain.test(text)) return text;
  return decodeEscapes(text.includes('+') ? spaced(text) : text);
}

/** The text with its percent escapes decoded; `null` where they are not UTF-8. */
function decodeEscapes(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
