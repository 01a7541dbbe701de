/**
 * Query strings and `application/x-www-form-urlencoded` bodies (§4), written so that every decoder reads the same:
 * RFC 3986, a space as `%20`. Text must be well formed: see `textFault`.
 */
export function encodePairs(pairs: Iterable<readonly [name: string, value: string]>): string {
  const parts: string[] = [];
  for (const [name, value] of pairs) parts.push(`${encodeText(name)}=${encodeText(value)}`);
  return parts.join('&');
}

/** Most values: nothing in them is encoded. */
const bare = /^[\w.~-]*$/;

/** One name or value, as `encodePairs` writes it. */
export function encodeText(text: string): string {
  if (bare.test(text)) return text;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A name and a value as they were received: `null` for what has a broken escape, or bytes that are not UTF-8. */
export type DecodedPair = readonly [name: string | null, value: string | null];

/** How many pairs `decodePairs` would look at, without reading them. */
export function countPairs(text: string): number {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) count += 1;
  return count;
}

/**
 * Reads a query string or a form body, in the order it was sent: `+` is a space, a part without `=` has an empty
 * value. What can be read is, beside what cannot.
 */
export function decodePairs(text: string): DecodedPair[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=');
      return [decodePart(at < 0 ? part : part.slice(0, at)), decodePart(at < 0 ? '' : part.slice(at + 1))];
    });
}

function decodePart(text: string): string | null {
  try {
    // Four times as fast as replaceAll where a body is nothing but `+`.
    return decodeURIComponent(text.includes('+') ? text.split('+').join(' ') : text);
  } catch {
    return null;
  }
}
