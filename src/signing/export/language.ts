import type { SignableRequest } from '../request.js';
import {
  type Expression,
  isAscii,
  isBytes,
  type Operation,
  type Operations,
  type PairSelection,
  type TextOperation,
} from './operations.js';

/** A signature that is exported: the parameter that carries it, such as `app_sign`, and its operations. */
interface ExportedRule {
  readonly name: string;
  readonly operations: Operations;
}

/** A request, and the signature that a rule gives it. */
export interface ExportedCase {
  /** The name of the signature. */
  readonly rule: string;
  /** The vector, such as `empty value`. */
  readonly name: string;
  readonly request: SignableRequest;
  readonly secret: string;
  readonly signature: string;
}

/** A language that rules are exported to. Its files are ASCII. */
export interface Language {
  /** Name and oldest version, for people. */
  readonly title: string;
  readonly files: { readonly rule: string; readonly test: string };
  /** The command that runs the test, in the folder of both files. */
  readonly run: string;
  /** The beginning of a line of comment. */
  readonly comment: string;
  /** Whether its texts are sequences of UTF-16 units or of code points, so that they can hold unpaired surrogates. */
  readonly hasSurrogates: boolean;
  /** `header` is lines of comment. */
  rule(rules: readonly ExportedRule[], header: string): string;
  test(cases: readonly ExportedCase[], header: string): string;
}

/** The code of helper functions by name, in the order in which a file has them. */
type HelperTable = Readonly<Record<string, string>>;

/** The names of variables where they differ from those of an expression. */
export type Variables = Readonly<Record<string, string>>;

/** Writes the expressions of a rule in a language. One writer writes one file, and knows the helpers that it needs. */
export abstract class Writer {
  readonly #table: HelperTable;
  readonly #used = new Set<string>();

  constructor(table: HelperTable) {
    this.#table = table;
  }

  /** A call of a helper, which the file then has, with those that it calls. */
  call(name: string, ...given: readonly string[]): string {
    this.#use(name);
    return `${name}(${given.map(bare).join(', ')})`;
  }

  #use(name: string): void {
    const code = this.#table[name];
    if (code === undefined || this.#used.has(name)) return;
    this.#used.add(name);
    for (const other of Object.keys(this.#table)) {
      if (new RegExp(`(?<![\\w.])${other}(?!\\w)`).test(code)) this.#use(other);
    }
  }

  /** The code of the helpers that are used. */
  helpers(): string[] {
    const used = Object.keys(this.#table).filter((name) => this.#used.has(name));
    return used.map((name) => (this.#table[name] ?? '').trim());
  }

  /** The name of a helper in the style of the language. */
  helperName(name: string): string {
    return name;
  }

  abstract literal(text: string): string;
  /** The statements of an operation. */
  abstract operation(operation: Operation): string[];

  /** The body of a function. */
  body(operations: Operations, style: WrapStyle): string[] {
    return operations
      .flatMap((operation) => this.operation(operation))
      .flatMap((line) => (line === '' ? [''] : wrapped(style.indent + line, style)));
  }

  abstract input(name: 'method' | 'url' | 'body' | 'secret'): string;
  /** `?` and the query; an empty text for an empty query. */
  abstract search(): string;
  abstract isIn(list: string, name: string, isIn: boolean): string;
  abstract startsWith(name: string, prefix: string): string;
  readonly or: string = ' || ';
  readonly not: string = '!';

  /** The conditions of a selection, each as an expression; `list` writes a list of names. */
  conditions(
    { names, order }: PairSelection,
    name: string,
    list: (names: readonly string[]) => string,
  ): string[] {
    return names.flatMap((condition) => {
      const isOrder = order !== null && !('key' in order) && `${condition.list}` === `${order}`;
      const own = isOrder ? this.variable('order') : list(condition.list);
      const isOnly = condition.are === 'only';
      const tests = [
        ...(condition.list.length > 0 || condition.prefixes.length === 0
          ? [this.isIn(own, name, isOnly)]
          : []),
        ...condition.prefixes.map(
          (prefix) => (isOnly ? '' : this.not) + this.startsWith(name, this.literal(prefix)),
        ),
      ];
      if (!isOnly) return tests;
      return [tests.length === 1 ? tests.join('') : `(${tests.join(this.or)})`];
    });
  }
  abstract extra(name: string): string;
  /** The path of the URL without `base`. */
  path(base: string): string {
    const whole = this.call('path', this.input('url'));
    return base === '' ? whole : this.call(this.helperName('without_prefix'), whole, this.literal(base));
  }
  /** The value of a variable. */
  variable(name: string): string {
    return name;
  }
  /** A call of a function in a variable. */
  apply(name: string, given: string): string {
    return `${name}(${given})`;
  }
  abstract join(parts: readonly string[]): string;
  abstract joinBytes(parts: readonly string[]): string;
  /** The UTF-8 of a text, U+FFFD for each unpaired surrogate. */
  abstract utf8(text: string): string;
  abstract pairs(each: string, separator: string): string;
  abstract escape(text: string, table: readonly (readonly [from: string, to: string])[]): string;
  abstract change(text: string, change: TextOperation, isAscii: boolean): string;
  abstract slice(text: string, from: number, to: number, isAscii: boolean): string;
  abstract decode(text: string, decoding: 'hex' | 'base64'): string;
  /** `data` and `key` are bytes. */
  abstract digest(data: string, key: string | null, digest: Extract<Expression, { is: 'digest' }>): string;
  /** The names of `name` and `value` while pairs are written. */
  readonly pairVariables: Variables = {};

  expression(expression: Expression, variables: Variables = {}): string {
    const inner = (of: Expression) => this.expression(of, variables);
    const bytes = (of: Expression) => (isBytes(of) ? inner(of) : this.utf8(inner(of)));
    switch (expression.is) {
      case 'literal':
        return this.literal(expression.text);
      case 'variable':
        return variables[expression.name] ?? this.variable(expression.name);
      case 'method':
      case 'url':
      case 'body':
      case 'secret':
        return this.input(expression.is);
      case 'query':
        return this.variable('query');
      case 'search':
        return this.search();
      case 'host':
        return this.call('host', this.input('url'));
      case 'path':
        return this.path(expression.basePath);
      case 'param':
        return this.call('first', this.variable('params'), this.literal(expression.name));
      case 'extra':
        return this.extra(expression.name);
      case 'join':
        return isBytes(expression)
          ? this.joinBytes(expression.parts.map(bytes))
          : this.join(expression.parts.map(inner));
      case 'written':
        return this.apply(this.variable('write'), inner(expression.of));
      case 'pairs':
        return this.pairs(
          this.expression(expression.each, this.pairVariables),
          this.literal(expression.separator),
        );
      case 'escape':
        return this.escape(inner(expression.of), expression.table);
      case 'change':
        return this.change(inner(expression.of), expression.change, isAscii(expression.of));
      case 'slice':
        return this.slice(inner(expression.of), expression.from, expression.to, isAscii(expression.of));
      case 'decode':
        if (expression.decoding === 'utf8') return this.utf8(inner(expression.of));
        return this.decode(inner(expression.of), expression.decoding === 'hex' ? 'hex' : 'base64');
      case 'digest':
        return this.digest(
          bytes(expression.of),
          expression.key === null ? null : inner(expression.key),
          expression,
        );
    }
  }
}

/** A sentence about the URL that an exported function takes, where that is not the one without its query. */
export function aboutUrl({ name, operations }: ExportedRule): string {
  return usesQuery(operations) ? ` url: with its query, without ${name}.` : '';
}

export function usesQuery(operations: Operations): boolean {
  return operations.some(({ set }) => set === 'query');
}

interface Place {
  readonly at: number;
  /** The number of open brackets. */
  readonly depth: number;
}

/** The places of a line of code that are not inside a literal. */
export function placesIn(code: string): Place[] {
  const places: Place[] = [];
  let depth = 0;
  let quote = '';
  for (let at = 0; at < code.length; at++) {
    const character = code.charAt(at);
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
      continue;
    }
    if (')]}'.includes(character)) depth--;
    places.push({ at, depth });
    if ('([{'.includes(character)) depth++;
    if (character === '"' || character === "'") quote = character;
  }
  return places;
}

/** Code without the text of its literals in double quotes. */
export function outsideLiterals(code: string): string {
  return code.replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
}

/** An expression without the parentheses around the whole of it. */
export function bare(code: string): string {
  const closed = placesIn(code).find(({ at, depth }) => at > 0 && depth === 0);
  return code.startsWith('(') && closed?.at === code.length - 1 ? code.slice(1, -1) : code;
}

/** An expression as the receiver of a method: a sum in parentheses. */
export function receiver(code: string): string {
  const isSum = placesIn(code).some(({ at, depth }) => depth === 0 && /^ [+.] /.test(code.slice(at, at + 3)));
  return isSum ? `(${code})` : code;
}

export interface WrapStyle {
  readonly indent: string;
  /** Whether a line may begin with the dot of a method. */
  readonly chains: boolean;
  /** The number of open brackets where a line may end, at least. */
  readonly depth: number;
  /** Whether all lines of a statement end inside the same bracket: gofmt indents the others further. */
  readonly flat?: boolean;
}

const columns = 116;

/** A statement in lines that are not too long, if it has places to break at; those after the first are indented. */
export function wrapped(line: string, style: WrapStyle): string[] {
  const width = columns - 2 * style.indent.length;
  if (line.length <= width) return [line];
  const own = /^\s*/.exec(line)?.[0] ?? '';
  const breaks = breaksIn(line, style).filter(({ at }) => at > own.length + style.indent.length + 8);
  const near = breaks.filter(({ at }) => at <= width);
  const lowest = Math.min(...near.map(({ rank }) => rank));
  const last = near.findLast(({ rank }) => rank === lowest) ?? breaks[0];
  if (last === undefined || (style.flat && lowest > 1)) return [line];
  const rest = own + style.indent + line.slice(last.at).trimStart();
  if (style.flat && rest.length > columns) return [line];
  // In the rest, brackets are counted from those that are open here.
  const inner = { ...style, indent: '', depth: style.depth - last.depth };
  return [line.slice(0, last.at).trimEnd(), ...wrapped(rest, inner)];
}

interface Break {
  readonly at: number;
  /** The number of open brackets. */
  readonly depth: number;
  /** The lowest is taken first. */
  readonly rank: number;
}

/** The places where a line may end: before a method, after an operator, after a comma, after an opening bracket. */
function breaksIn(line: string, style: WrapStyle): Break[] {
  return placesIn(line).flatMap(({ at, depth }): Break[] => {
    if (depth < style.depth) return [];
    const rest = line.slice(at);
    const [operator] = /^ (?:[+.<-]|&&|<=>)(?= )|^\+(?=\S)/.exec(rest) ?? [];
    if (style.chains && depth === 0 && /^\)\.\w/.test(rest)) return [{ at: at + 1, depth, rank: -1 }];
    if (operator !== undefined) return [{ at: at + operator.length, depth, rank: depth }];
    if (rest.startsWith(', ')) return [{ at: at + 1, depth, rank: depth }];
    return /^\([^)]/.test(rest) ? [{ at: at + 1, depth: depth + 1, rank: depth + 1.5 }] : [];
  });
}

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

/** `escape` for languages whose literals are UTF-16: a code point beyond the first plane is two units. */
export function utf16Escape(code: number): string {
  return String.fromCodePoint(code)
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('');
}

export function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** In addition to those of a category: characters that a final sigma ignores (Unicode, Case_Ignorable). */
export const ignoredMarks =
  "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";

const marks = [...ignoredMarks].map((mark) => `\\x{${hex(mark.charCodeAt(0), 1)}}`).join('');
const casedSymbols = '\\x{aa}\\x{ba}\\x{2160}-\\x{217f}\\x{24b6}-\\x{24e9}';
const squaredLetters = '\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}';

/** Character classes of PCRE and Java that decide about a final sigma: letters with case, and what is ignored. */
export const sigmaClasses = {
  cased: `[\\p{Lu}\\p{Ll}\\p{Lt}${casedSymbols}${squaredLetters}]`,
  ignored: `[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}${marks}]`,
};

/** A change of letter case: the letters that become one other, and those that become several. */
export interface CaseTable {
  readonly single: readonly (readonly [from: number, to: number])[];
  readonly several: readonly (readonly [from: string, to: string])[];
}

/** The table of the Unicode version of this process. */
export function caseTable(change: 'toUpperCase' | 'toLowerCase'): CaseTable {
  const single: (readonly [number, number])[] = [];
  const several: (readonly [string, string])[] = [];
  for (let code = 0; code < 0x20000; code++) {
    const letter = String.fromCodePoint(code);
    const other = letter[change]();
    if (other === letter) continue;
    if ([...other].length === 1) single.push([code, other.codePointAt(0) ?? 0]);
    else several.push([letter, other]);
  }
  return { single, several };
}

/** Parts of a list in lines of source that hold as many as fit. */
export function lines(parts: readonly string[], separator: string, width = 100): string[] {
  const filled: string[] = [];
  let line = '';
  for (const [index, part] of parts.entries()) {
    const added = index === parts.length - 1 ? part : part + separator;
    if (line !== '' && line.length + added.length > width) {
      filled.push(line);
      line = '';
    }
    line += added;
  }
  return [...filled, line];
}

/** `app_sign` as `appSign`. */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `app_sign` as `AppSign`. */
export function pascalCase(name: string): string {
  return camelCase(`_${name}`);
}
