/**
 * The index of the quote that closes the one at `start`, or -1: the same after an even number of
 * backslashes.
 */
export function closingQuote(text: string, start: number): number {
  const quote = text[start] ?? '';
  for (let end = text.indexOf(quote, start + 1); end >= 0; end = text.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
