import type { Param } from '../request.js';

/** A string, a punctuation mark, or a number, `true`, `false` or `null`. */
const jsonToken = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/**
 * The members of a JSON object in the order of the text, with the text that is signed for each value; none for any
 * other text. JSON.parse reorders names that look like integers and drops repeated ones.
 */
export function jsonPairs(text: string): Param[] {
  const pairs: Param[] = [];
  if (!/^\s*\{/.test(text) || jsonValueOf(text) === undefined) return pairs;
  let depth = 0;
  let name: string | null = null;
  let start = -1;
  let end = -1;
  for (const { 0: token, index } of text.matchAll(jsonToken)) {
    if (token === '}' || token === ']') depth -= 1;
    const isSeparator = (depth === 1 && token === ',') || depth === 0;
    if (isSeparator && name !== null && start >= 0) {
      pairs.push([name, valueText(text.slice(start, end))]);
      [name, start] = [null, -1];
    } else if (depth === 1 && name === null && token.startsWith('"')) {
      name = JSON.parse(token);
    } else if (depth >= 1 && name !== null && token !== ':' && start < 0) {
      start = index;
    }
    end = index + token.length;
    if (token === '{' || token === '[') depth += 1;
  }
  return pairs;
}

/** undefined for a text that is no JSON. */
export function jsonValueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text that is signed for a value: a string itself, nothing for null, all others as written. */
function valueText(json: string): string {
  if (json === 'null') return '';
  return json.startsWith('"') ? JSON.parse(json) : json;
}
