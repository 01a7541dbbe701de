import { algorithmFacts, type LanguageName } from '../../core/signing/digest-algorithms.js';
import { RecipeError } from '../../core/signing/recipe.js';
import type { Expression } from './expressions.js';
import { type Language, languages, type StatementName } from './languages.js';
import { flat, group, type SourceCode, written } from './layout.js';
import type { Operation, Operations } from './operations.js';
import {
  bareCode,
  headerMark,
  readTemplate,
  ruleMark,
  type TemplateFile,
  withImports,
} from './template.js';

/**
 * A signature that is exported: the parameter that carries it, such as `app_sign`, and its
 * operations.
 */
export interface ExportedRule {
  readonly name: string;
  readonly operations: Operations;
  /** Whether the URL comes with its query. */
  readonly usesQuery: boolean;
}

/** A request, and the signature that a rule gives it. */
export interface ExportedCase {
  readonly rule: string;
  readonly title: string;
  readonly method: string;
  readonly url: string;
  readonly params: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
  readonly secret: string;
  readonly signature: string;
}

/**
 * What a language leaves out whose texts are bytes, or whose bodies and parameters have one form.
 */
const conversions: ReadonlySet<string> = new Set(['pairs_of', 'text_of', 'utf8']);

/** Writes operations into the templates of a language. One writer writes one file. */
export class Writer {
  readonly #language: Language;
  readonly #name: LanguageName;
  readonly #template: TemplateFile;
  readonly #used = new Set<string>();
  /** A variable that would be another one. */
  #alias: Readonly<Record<string, string>> = {};

  constructor(name: LanguageName) {
    this.#name = name;
    this.#language = languages[name];
    this.#template = readTemplate(this.#language.templates.rule, this.#language);
  }

  /** The file of the rules; `header` is lines of comment. */
  rules(rules: readonly ExportedRule[], header: string): string {
    const { gap } = this.#language;
    const { beginning, blocks, end } = this.#template;
    const functions = rules.map((rule) => this.#rule(rule));
    const isPair = rules.length > 1 && rules.every(({ usesQuery }) => !usesQuery);
    const signedQuery = isPair ? [this.#block('signed_query')] : [];
    for (const code of signedQuery) this.#use(code);
    const helpers = [...blocks].filter(([name]) => this.#used.has(name)).map(([, code]) => code);
    const all = [...signedQuery, ...functions, ...helpers];
    const start = this.#withHeader(withImports(beginning, all.join('\n')), header);
    const between = '\n'.repeat(start.endsWith('{') ? 1 : gap + 1);
    return `${start}${between}${all.join('\n'.repeat(gap + 1))}${end}\n`;
  }

  cases(cases: readonly ExportedCase[], header: string): string {
    const { comment, templates } = this.#language;
    const place = new RegExp(`^([ \\t]*)${comment} CASES\\n[^]*?${comment} END\\n`, 'm');
    const filled = templates.test.replace(place, (_, margin: string) =>
      cases.map((one) => `${margin}${written(this.#case(one), this.#language, margin)}\n`).join(''),
    );
    return this.#withHeader(filled, header);
  }

  #withHeader(text: string, header: string): string {
    return text.replace(`${this.#language.comment} ${headerMark}`, () => header);
  }

  #block(name: string): string {
    return this.#template.blocks.get(this.#language.publicName(name)) ?? '';
  }

  /** A function like `sign` of the template. */
  #rule({ name, operations, usesQuery }: ExportedRule): string {
    const { comment, publicName, takesObject = false } = this.#language;
    this.#alias = {};
    const [head = '', after = ''] = this.#block('sign').split(
      new RegExp(`^(?=[ \\t]*${comment} ${ruleMark}\\n)`, 'm'),
    );
    const [margin = ''] = /^[ \t]*/.exec(after) ?? [];
    const [end = ''] = /(?:\n[ \t]*\})?$/.exec(after) ?? [];
    const about = usesQuery ? [`${margin}${comment} url: with its query, without ${name}`] : [];
    const body = operations.flatMap((operation) => this.#statement(operation, margin));
    const code = [...about, ...body].join('\n').replace(/\n{3,}/g, '\n\n');
    const named = head.replace(/\bsign\b/gi, (found, at: number) =>
      found === 'sign' && head[at + 4] !== '(' ? name : publicName(name),
    );
    const declared = takesObject ? withUsedNames(named, code) : named;
    this.#use(declared + code);
    return declared + code + end;
  }

  #statement(operation: Operation, margin: string): string[] {
    const { statements, variableName, takesObject = false } = this.#language;
    const value = this.#expression(operation.value);
    if (operation.set === 'signature') return this.#lines(statements.signature, '', value, margin);
    const name = variableName(operation.variable);
    if (operation.set === 'pairs' && typeof value === 'string') {
      this.#alias = { [name]: value };
      return [];
    }
    const kind: StatementName = operation.set === 'function' ? 'function of pair' : operation.set;
    const isOfName =
      takesObject && operation.set === 'function' && !/\bvalue\b/.test(bareCode(flat(value)));
    const statement = isOfName
      ? statements[kind].replace('(name, value)', '(name)')
      : statements[kind];
    return this.#lines(statement, name, value, margin);
  }

  #lines(statement: string, name: string, value: SourceCode, margin: string): string[] {
    return statement.split('\n').map((line) => {
      if (line === '') return '';
      const [start = '', end] = line.trimStart().split('VALUE', 2);
      const indent = line.slice(0, line.length - line.trimStart().length);
      const code: SourceCode = end === undefined ? [start] : [start, value, end];
      const named = code.map((part) => (part === start ? start.replace('NAME', () => name) : part));
      return margin + indent + written(named, this.#language, margin + indent);
    });
  }

  /** Marks what code uses of the template, and what that uses. */
  #use(code: string): void {
    const bare = bareCode(code);
    for (const [name, block] of this.#template.blocks) {
      if (this.#used.has(name) || this.#isReplaced(name)) continue;
      if (!new RegExp(`(?<![\\w.$])${name}\\b`).test(bare)) continue;
      this.#used.add(name);
      this.#use(block);
    }
  }

  #isReplaced(name: string): boolean {
    return ['sign', 'app_sign', 'signed_query'].some(
      (one) => name === this.#language.publicName(one),
    );
  }

  #expression(expression: Expression): SourceCode {
    const { lists, literal, variableName, plus, sumBrackets = null, lastComma } = this.#language;
    switch (expression.is) {
      case 'literal':
        return this.#literal(expression.text);
      case 'number':
        return `${expression.value}`;
      case 'texts':
        return this.#list(lists.texts, expression.texts.map(literal));
      case 'algorithm':
        return this.#algorithm(expression);
      case 'variable': {
        const name = variableName(expression.name);
        return this.#alias[name] ?? name;
      }
      case 'call':
        return this.#call(expression.name, expression.given);
      case 'sum': {
        const parts = expression.parts.map((part) => this.#expression(part));
        const concat = expression.isBytes ? this.#helper('concat') : null;
        if (concat !== null)
          return group(`${concat}(`, [this.#list(lists.bytes, parts)], ')', { last: lastComma });
        return group('', parts, '', { separator: plus, brackets: sumBrackets });
      }
    }
  }

  /**
   * A call of a function of the template; where a language needs none, what the function is given.
   */
  #call(name: string, given: readonly Expression[]): SourceCode {
    const helper = this.#helper(name) ?? this.#helper(name.replace(/_ascii$/, ''));
    const [first = '', ...others] = given.map((of) => this.#expression(of));
    if (helper !== null)
      return group(`${helper}(`, [first, ...others], ')', { last: this.#language.lastComma });
    if (!conversions.has(name))
      throw new Error(`the template of ${this.#language.title} has no ${name}`);
    return first;
  }

  #helper(name: string): string | null {
    const helper = this.#language.functionName(name);
    return this.#template.blocks.has(helper) ? helper : null;
  }

  /** @throws RecipeError where the language's library has no such digest */
  #algorithm({ algorithm, isKeyed }: Extract<Expression, { is: 'algorithm' }>): string {
    const { title, names } = algorithmFacts[algorithm];
    const index = isKeyed ? 1 : 0;
    const name = names[this.#name][index];
    if (name !== null) return this.#language.algorithms[index].replace('NAME', () => name);
    throw new RecipeError(
      'steps',
      `${this.#language.title} has no ${isKeyed ? 'HMAC with ' : ''}${title}`,
      'Export to another language.',
    );
  }

  #list([open, close]: readonly [string, string], items: readonly SourceCode[]): SourceCode {
    return items.length === 0
      ? open.trimEnd() + close.trimStart()
      : group(open, items, close, { last: this.#language.lastComma });
  }

  #rows(rows: readonly (readonly string[])[]): SourceCode {
    const { lastComma: last, lists } = this.#language;
    const [open, close] = lists.row;
    return this.#list(
      lists.rows,
      rows.map((row) =>
        group(
          open,
          row.map((text) => this.#literal(text)),
          close,
          { last },
        ),
      ),
    );
  }

  /**
   * A text; a long one in several, where the language joins those that stand one behind the other.
   */
  #literal(text: string): SourceCode {
    const { literal, sumBrackets, width } = this.#language;
    const whole = literal(text);
    if (sumBrackets === undefined || whole.length < width / 2) return whole;
    const pieces: string[] = [];
    let piece = '';
    for (const character of text) {
      if (literal(piece + character).length > width / 2) {
        pieces.push(piece);
        piece = '';
      }
      piece += character;
    }
    pieces.push(piece);
    return group('', pieces.map(literal), '', { separator: ' ', brackets: sumBrackets });
  }

  #case({ rule, title, method, url, params, body, secret, signature }: ExportedCase): SourceCode {
    const { check, publicName, literal, nothing, takesObject = false, lastComma } = this.#language;
    const name = publicName(rule);
    const given: Record<string, SourceCode> = {
      method: literal(method),
      url: this.#literal(url),
      params: this.#rows(params),
      body: body === null ? nothing : this.#literal(body),
    };
    const start = this.#language.rule.replace('NAME', () => name);
    const values = takesObject
      ? [
          group(
            '{ ',
            Object.entries(given).map(([key, value]) => [`${key}: `, value]),
            ' }',
            { last: lastComma },
          ),
        ]
      : Object.values(given);
    const call = group(start, [...values, literal(secret)], ')', { last: lastComma });
    return check(this.#literal(title), call, this.#literal(signature));
  }
}

/** A function of JavaScript that names of its object, and of its parameters, what its body uses. */
function withUsedNames(head: string, body: string): string {
  const isUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\b`).test(bareCode(body));
  return head.replace(/\(\{ (.*) \}, secret\)/, (_, names: string) => {
    const used = names.split(', ').filter(isUsed);
    const request = used.length === 0 ? '_request' : `{ ${used.join(', ')} }`;
    return isUsed('secret') ? `(${request}, secret)` : used.length === 0 ? '()' : `(${request})`;
  });
}
