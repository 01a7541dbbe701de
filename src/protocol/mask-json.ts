import { jsonTokens } from './json-tokens.js';
import { maskText } from './personal-data.js';

type IsPersonal = (key: string) => boolean;

/** An object or a list that is open at some place of a JSON text. */
interface Container {
  readonly isObject: boolean;
  /** Everything in it is about a person. */
  readonly isPersonal: boolean;
}

/**
 * A JSON text with the values masked whose key `isPersonal`, and all that is inside such a value. `null` and the
 * empty text stay, and everything else is as it was, to the byte. A text that encodes an object is looked into, as
 * those of `device_info` are (§4.1, shape rule 3). `json` is one that JSON.parse takes.
 */
export function maskJson(json: string, isPersonal: IsPersonal): string {
  const shown: string[] = [];
  const open: Container[] = [];
  let copied = 0;
  let key = '';
  let keyIsNext = false;
  for (const { start, end } of jsonTokens(json)) {
    const first = json[start];
    const within = open.at(-1);
    const hides = within !== undefined && (within.isPersonal || (within.isObject && isPersonal(key)));
    if (first === '{' || first === '[') {
      open.push({ isObject: first === '{', isPersonal: hides });
      keyIsNext = first === '{';
    } else if (first === '}' || first === ']') open.pop();
    else if (first === ',') keyIsNext = within?.isObject === true;
    else if (keyIsNext) {
      key = JSON.parse(json.slice(start, end));
      keyIsNext = false;
    } else if (first !== ':') {
      shown.push(json.slice(copied, start), maskToken(json.slice(start, end), hides, isPersonal));
      copied = end;
    }
  }
  return [...shown, json.slice(copied)].join('');
}

function maskToken(token: string, hides: boolean, isPersonal: IsPersonal): string {
  if (token === 'null' || token === '""') return token;
  const text: string = token.startsWith('"') ? JSON.parse(token) : token;
  if (encodesObject(text)) return JSON.stringify(maskJson(text, hides ? () => true : isPersonal));
  return hides ? JSON.stringify(maskText(text)) : token;
}

function encodesObject(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
