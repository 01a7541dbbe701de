/** A string, a punctuation mark, or a number, `true`, `false` or `null`. */
const jsonToken = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** A member of a JSON object, as written: JSON.parse reorders names that look like integers and drops repeated ones. */
export interface JsonMember {
  readonly name: string;
  /** The JSON text of the value. */
  readonly json: string;
}

/** The members of a JSON object in the order of the text; null for any other text. */
export function jsonMembers(text: string): JsonMember[] | null {
  if (!/^\s*\{/.test(text) || !isJson(text)) return null;
  const members: JsonMember[] = [];
  let depth = 0;
  let name: string | null = null;
  let start = -1;
  let end = -1;
  for (const { 0: token, index } of text.matchAll(jsonToken)) {
    if (token === '}' || token === ']') depth -= 1;
    const isSeparator = (depth === 1 && token === ',') || depth === 0;
    if (isSeparator && name !== null && start >= 0) {
      members.push({ name, json: text.slice(start, end) });
      [name, start] = [null, -1];
    } else if (depth === 1 && name === null && token.startsWith('"')) {
      name = JSON.parse(token);
    } else if (depth >= 1 && name !== null && token !== ':' && start < 0) {
      start = index;
    }
    end = index + token.length;
    if (token === '{' || token === '[') depth += 1;
  }
  return members;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The text that is signed for a value: a string itself, nothing for null, all others as written. */
export function valueText(json: string): string {
  if (json === 'null') return '';
  return json.startsWith('"') ? JSON.parse(json) : json;
}
