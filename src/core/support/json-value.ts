/** The value of JSON text; `undefined` for text that is not JSON. */
export function jsonValueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
