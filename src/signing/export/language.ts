import type { Algorithm } from '../digest-algorithms.js';
import { type Expression, isAscii, isBytes, type TextOperation } from './expression.js';
import { bare, type WrapStyle, wrapped } from './layout.js';
import type { Operation, Operations, PairSelection } from './operations.js';

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
  writer(): Writer;
}

/** A signature that is exported: the parameter that carries it, such as `app_sign`, and its operations. */
export interface ExportedRule {
  readonly name: string;
  readonly operations: Operations;
}

/** A request, and the signature that a rule gives it. All texts but `rule` are literals of the language. */
export interface ExportedCase {
  /** The name of the signature. */
  readonly rule: string;
  /** The vector, such as `empty value`. */
  readonly name: string;
  /** Rule and vector. */
  readonly title: string;
  readonly method: string;
  readonly url: string;
  readonly params: readonly (readonly string[])[];
  readonly body: string | null;
  readonly extra: readonly (readonly string[])[];
  readonly secret: string;
  readonly signature: string;
}

/**
 * Writes expressions and statements in a language. One writer writes one file, and knows the helpers that it needs.
 * What most languages write in the same way is here.
 */
export abstract class Writer {
  /** The code of helper functions by name, in the order in which a file has them. */
  abstract readonly helpers: Readonly<Record<string, string>>;
  readonly #used = new Set<string>();

  /** The file of the rules; `header` is lines of comment. */
  rule(rules: readonly ExportedRule[], header: string): string {
    const functions = rules.map(({ name, operations }) => {
      const usesQuery = operations.some(({ set }) => set === 'query');
      const aboutUrl = usesQuery ? ` url: with its query, without ${name}.` : '';
      return this.function(name, aboutUrl, this.#body(operations)).join('\n');
    });
    const used = Object.keys(this.helpers).filter((name) => this.#used.has(name));
    const helpers = used.map((name) => (this.helpers[name] ?? '').trim());
    return this.file(functions, helpers, header);
  }

  abstract file(functions: readonly string[], helpers: readonly string[], header: string): string;

  /** The lines of a function; `aboutUrl` is a sentence about the URL where that is not the one without its query. */
  abstract function(name: string, aboutUrl: string, body: readonly string[]): string[];

  /** The file of their test. */
  abstract test(cases: readonly ExportedCase[], header: string): string;

  readonly style: WrapStyle = { indent: '    ', chains: true, depth: 0 };

  #body(operations: Operations): string[] {
    return operations
      .flatMap((operation) => this.statements(operation))
      .flatMap((line) => (line === '' ? [''] : wrapped(this.style.indent + line, this.style)));
  }

  /** A line of a test in lines that are not too long. */
  testLines(line: string): string[] {
    return wrapped(line, { ...this.style, chains: false, depth: 1 });
  }

  /** A call of a helper, which the file then has, with those that it calls. */
  call(name: string, ...given: readonly string[]): string {
    const helper = this.helperName(name);
    this.#use(helper);
    return `${helper}(${given.map(bare).join(', ')})`;
  }

  #use(name: string): void {
    const code = this.helpers[name];
    if (code === undefined || this.#used.has(name)) return;
    this.#used.add(name);
    for (const other of Object.keys(this.helpers)) {
      if (new RegExp(`(?<![\\w.])${other}(?!\\w)`).test(code)) this.#use(other);
    }
  }

  /** The name of a helper in the style of the language. */
  helperName(name: string): string {
    return name;
  }

  statements(operation: Operation): string[] {
    switch (operation.set) {
      case 'query':
        return this.takeQuery();
      case 'write':
        return this.defineWrite(this.expression(operation.value));
      case 'pairs': {
        const { order } = operation;
        const list = order === null ? [] : [this.assign('order', this.#listOf(order), 'texts')];
        return [...list, ...this.select(operation)];
      }
      default: {
        const { set, variable } = operation;
        const value = bare(this.expression(operation.value));
        return [variable === 'signature' ? `return ${value}${this.end}` : this.assign(variable, value, set)];
      }
    }
  }

  /** The end of a statement. */
  readonly end: string = ';';

  /** Sets `query`, and `url` to the part before it. */
  abstract takeQuery(): string[];
  /** Defines `write`, a function of `text`. */
  abstract defineWrite(value: string): string[];

  /** Declares a variable: a text, bytes, or a list of texts. */
  assign(name: string, value: string, _type: 'text' | 'bytes' | 'texts'): string {
    return `${this.variable(name)} = ${value}${this.end}`;
  }

  /** Sets `pairs`; a fixed order is in the variable `order`. */
  abstract select(selection: PairSelection): string[];

  /** The conditions of a selected pair, each as an expression; `name` is that of the pair. */
  conditions({ names, dropsEmpty, order }: PairSelection, name = this.pairVariables.name): string[] {
    const onNames = names.flatMap(({ are, list, prefixes }) => {
      const isOnly = are === 'only';
      const isOrder = order !== null && `${list}` === `${order}`;
      const tests = [
        ...(list.length > 0 || prefixes.length === 0
          ? [this.isIn(isOrder ? this.variable('order') : this.#listOf(list), name, isOnly)]
          : []),
        ...prefixes.map((prefix) => (isOnly ? '' : this.not) + this.startsWith(name, this.literal(prefix))),
      ];
      return isOnly && tests.length > 1 ? [`(${tests.join(this.or)})`] : tests;
    });
    return dropsEmpty ? [...onNames, this.isNotEmpty(this.pairVariables.value)] : onNames;
  }

  readonly or: string = ' || ';
  readonly not: string = '!';
  abstract isIn(list: string, name: string, isIn: boolean): string;

  startsWith(name: string, prefix: string): string {
    return `${name}.startsWith(${prefix})`;
  }

  isNotEmpty(text: string): string {
    return `${text} != ""`;
  }

  /** The pairs, those with the same name joined if the selection wants that. */
  joined(pairs: string, { joinRepeated }: PairSelection): string {
    return joinRepeated === null ? pairs : this.call('join_repeated', pairs, this.literal(joinRepeated));
  }

  #listOf(texts: readonly string[]): string {
    return this.list(texts.map((text) => this.literal(text)).join(', '));
  }

  /** A list; `texts` are its literals with commas between them. */
  list(texts: string): string {
    return `[${texts}]`;
  }

  /** The names of `name` and `value` while pairs are selected and written. */
  readonly pairVariables: Readonly<Record<'name' | 'value', string>> = { name: 'name', value: 'value' };

  expression(expression: Expression, variables: Readonly<Record<string, string>> = {}): string {
    const inner = (of: Expression) => this.expression(of, variables);
    const bytes = (of: Expression) => (isBytes(of) ? inner(of) : this.utf8(inner(of)));
    switch (expression.is) {
      case 'literal':
        return this.literal(expression.text);
      case 'variable':
        return variables[expression.name] ?? this.variable(expression.name);
      case 'method':
      case 'url':
      case 'secret':
      case 'query':
        return this.variable(expression.is);
      case 'body':
        return this.body;
      case 'search':
        return this.search;
      case 'host':
        return this.call('host', this.variable('url'));
      case 'path': {
        const path = this.call('path', this.variable('url'));
        const { basePath } = expression;
        return basePath === '' ? path : this.withoutPrefix(path, this.literal(basePath));
      }
      case 'param':
        return this.call('first', this.variable('params'), this.literal(expression.name));
      case 'extra':
        return this.extra(expression.name);
      case 'join':
        return isBytes(expression)
          ? this.joinBytes(expression.parts.map(bytes))
          : this.join(expression.parts.map(inner));
      case 'written':
        return this.written(inner(expression.of));
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
      case 'decode': {
        const text = inner(expression.of);
        if (expression.decoding === 'utf8') return this.utf8(text);
        return this.decode(text, expression.decoding === 'hex' ? 'hex' : 'base64');
      }
      case 'digest': {
        const { algorithm, format } = expression;
        const key = expression.key === null ? null : inner(expression.key);
        const digest = (written: DigestFormat) => this.digest(bytes(expression.of), key, algorithm, written);
        if (format === 'HEX') return this.change(digest('hex'), 'upper', true);
        return format === 'base64-of-hex' ? this.base64OfHex(digest('hex')) : digest(format);
      }
    }
  }

  abstract literal(text: string): string;

  /** The value of a variable. */
  variable(name: string): string {
    return name;
  }

  /** The body as a text: an empty one where there is none. */
  abstract readonly body: string;
  /** `?` and the query; an empty text for an empty query. */
  abstract readonly search: string;
  abstract extra(name: string): string;

  withoutPrefix(text: string, prefix: string): string {
    return this.call('without_prefix', text, prefix);
  }

  join(parts: readonly string[]): string {
    return parts.join(' + ');
  }

  joinBytes(parts: readonly string[]): string {
    return this.call('concat', ...parts);
  }

  /** The UTF-8 of a text, U+FFFD for each unpaired surrogate. */
  utf8(text: string): string {
    return this.call('utf8', text);
  }

  /** A call of `write`. */
  written(text: string): string {
    return `${this.variable('write')}(${text})`;
  }

  abstract pairs(each: string, separator: string): string;
  abstract escape(text: string, table: readonly (readonly [from: string, to: string])[]): string;

  change(text: string, change: TextOperation, _isAscii: boolean): string {
    return this.call(change === 'json' ? 'json_string' : change.replace('-', '_'), text);
  }

  slice(text: string, from: number, to: number, _isAscii: boolean): string {
    return this.call('slice', text, `${from}`, `${to}`);
  }

  decode(text: string, decoding: 'hex' | 'base64'): string {
    return this.call(`from_${decoding}`, text);
  }

  /** `data` and `key` are bytes. */
  abstract digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string;

  base64OfHex(hex: string): string {
    return this.change(hex, 'base64', true);
  }
}

export type DigestFormat = 'raw' | 'hex' | 'base64' | 'base64url';

/** `app_sign` as `appSign`. */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `app_sign` as `AppSign`. */
export function pascalCase(name: string): string {
  return camelCase(`_${name}`);
}
