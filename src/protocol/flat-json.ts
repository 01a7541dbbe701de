import { InvalidInputError } from './errors.js';
import { closingQuote } from './json-tokens.js';
import { resultCode } from './result-codes.js';
import { quoteName } from './text.js';

/** The same symbol in every copy of this package, so that each recognizes the numbers of the others. */
const brand: unique symbol = Symbol.for('userinfo-cli.JsonNumber');

/**
 * A number of a JSON text, kept as it was written: `9007199254740993`, `1.00`. `instanceof` also recognizes a JsonNumber
 * of another copy of this package, such as a bundled one.
 */
export class JsonNumber {
  readonly text: string;

  /** @throws InvalidInputError for a text that is no JSON number */
  constructor(text: string) {
    if (typeof text !== 'string' || !wholeNumber.test(text)) {
      throw new InvalidInputError('the text given to JsonNumber is not a JSON number', {
        resultCode: resultCode.userInfoNotFlat,
      });
    }
    this.text = text;
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }

  get [brand](): true {
    return true;
  }

  toString(): string {
    return this.text;
  }
}

/** A value that a flat JSON object can hold. */
export type FlatValue = string | boolean | null | JsonNumber;

/** Why a text is no flat JSON object, in words that follow "user_info". */
export class FlatJsonError extends Error {
  override readonly name = 'FlatJsonError';
}

const wholeNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
const literal = /(?:true|false|null)(?!\w)/y;
/** What JSON.stringify may write as an escape. */
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;
const literals = { true: true, false: false, null: null } as const;

/**
 * Reads a JSON object of one level (§4.2 rule 3), in the order and with the numbers it was written with.
 * JSON.parse would round long numbers, let a doubled key win silently and reorder keys that look like numbers.
 * Throws a FlatJsonError.
 */
export function parseFlatJson(text: string): Map<string, FlatValue> {
  const entries = new Map<string, FlatValue>();
  let at = 0;

  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) return null;
    at += found.length;
    return found;
  };
  const skipSpace = () => {
    take(space);
    return text[at];
  };
  const expect = (character: string) => {
    if (skipSpace() !== character) throw syntaxFault(text, at, `"${character}"`);
    at += 1;
  };
  const takeString = (): string | null => {
    const end = text[at] === '"' ? closingQuote(text, at) : -1;
    if (end < 0) return null;
    try {
      const found: string = JSON.parse(text.slice(at, end + 1));
      at = end + 1;
      return found;
    } catch {
      return null;
    }
  };
  const takeValue = (key: string): FlatValue => {
    const first = skipSpace();
    if (first === '{') throw new FlatJsonError(`key ${quoteName(key)} holds an object: one level only`);
    if (first === '[') throw new FlatJsonError(`key ${quoteName(key)} holds an array: one level only`);
    const textValue = takeString();
    if (textValue !== null) return textValue;
    const word = take(literal);
    if (word !== null) return literals[word as keyof typeof literals];
    const digits = take(number);
    if (digits !== null) return new JsonNumber(digits);
    throw syntaxFault(text, at, 'a value');
  };

  const first = skipSpace();
  if (first !== '{') throw new FlatJsonError(first === '[' ? 'is an array' : 'is not a JSON object');
  at += 1;
  if (skipSpace() === '}') at += 1;
  else {
    for (;;) {
      skipSpace();
      const key = takeString();
      if (key === null) throw syntaxFault(text, at, 'a key in double quotes');
      expect(':');
      const value = takeValue(key);
      if (entries.has(key)) throw new FlatJsonError(`has the key ${quoteName(key)} twice`);
      entries.set(key, value);
      if (skipSpace() !== ',') break;
      at += 1;
    }
    expect('}');
  }
  if (skipSpace() !== undefined) throw syntaxFault(text, at, 'nothing more');
  return entries;
}

function syntaxFault(text: string, at: number, expected: string): FlatJsonError {
  const found = at >= text.length ? 'the end' : 'something else';
  return new FlatJsonError(`is not JSON: ${expected} expected at character ${at + 1}, ${found} found`);
}

/** The JSON text of a flat object: non-ASCII characters and slashes unescaped (§4.2 rule 7). */
export function formatFlatJson(entries: ReadonlyMap<string, FlatValue>): string {
  let members = '';
  for (const [key, value] of entries) {
    members += `${members === '' ? '' : ','}${formatText(key)}:${formatValue(value)}`;
  }
  return `{${members}}`;
}

function formatValue(value: FlatValue): string {
  return typeof value === 'string' ? formatText(value) : String(value);
}

/** What JSON.stringify says, which takes twice as long for the texts that most are. */
function formatText(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}
