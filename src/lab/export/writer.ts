import { algorithmTitles } from '../../core/signing/digest-algorithms.js';
import { RecipeError } from '../../core/signing/recipe.js';
import { digestNames, type LanguageName } from './digest-names.js';
import type { Expression } from './expressions.js';
import { type Language, languages } from './languages.js';
import { flat, group, type SourceCode, written } from './layout.js';
import type { Statement, Statements } from './statements.js';
import {
  bareCode,
  headerMark,
  readTemplate,
  ruleMark,
  type TemplateFile,
  withImports,
} from './template.js';

/**
 * A signature that is exported: the parameter that carries it, such as `app_sign`, and the
 * statements that make it.
 */
export interface ExportedRule {
  readonly name: string;
  readonly statements: Statements;
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

/** An operation, and the request that both rules together make of it. */
export interface ExportedRequest {
  readonly title: string;
  readonly operation: string;
  readonly baseUrl: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly secret: string;
  readonly sent: { readonly method: string; readonly url: string; readonly body: string | null };
}

/**
 * Functions that a template may lack: its language has texts that are bytes, or bodies and
 * parameters of one form, so that the value stays as it is.
 */
const conversions: ReadonlySet<string> = new Set(['pairs_of', 'text_of', 'utf8']);

/** Writes statements into the templates of a language. One writer writes one file. */
export class Writer {
  readonly #language: Language;
  readonly #name: LanguageName;
  readonly #template: TemplateFile;
  readonly #used = new Set<string>();
  /** A variable that would only be another name, and the code that is written in its place. */
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
    const isPair = ['app_sign', 'sign'].every((name) => rules.some((rule) => rule.name === name));
    if (isPair) {
      const signedRequest = this.#block('signed_request');
      this.#use(signedRequest);
      functions.unshift(signedRequest);
    }
    const helpers = [...blocks].filter(([name]) => this.#used.has(name)).map(([, code]) => code);
    const all = [...functions, ...helpers];
    const start = this.#withHeader(withImports(beginning, all.join('\n')), header);
    const startsClass = start.endsWith('{');
    const between = '\n'.repeat(startsClass ? 1 : gap + 1);
    return `${start}${between}${all.join('\n'.repeat(gap + 1))}${end}\n`;
  }

  /** The file of a test. */
  test(
    cases: readonly ExportedCase[],
    requests: readonly ExportedRequest[],
    header: string,
  ): string {
    const { comment, templates } = this.#language;
    const ofRequests = new RegExp(
      `^[ \\t]*${comment} REQUESTS\\n([^]*?)^[ \\t]*${comment} END REQUESTS\\n`,
      'm',
    );
    const ofCases = new RegExp(`^([ \\t]*)${comment} CASES\\n[^]*?${comment} END\\n`, 'm');
    const checks = [
      ...cases.map((exportedCase) => this.#case(exportedCase)),
      ...requests.map((request) => this.#request(request)),
    ];
    const filled = templates.test
      .replace(ofRequests, (_, helper: string) => (requests.length > 0 ? helper : ''))
      .replace(ofCases, (_, margin: string) =>
        checks.map((check) => `${margin}${written(check, this.#language, margin)}\n`).join(''),
      );
    return this.#withHeader(
      withImports(filled, filled.replace(/^import .*|^\t".*"$/gm, '')),
      header,
    );
  }

  #withHeader(text: string, header: string): string {
    return text.replace(`${this.#language.comment} ${headerMark}`, () => header);
  }

  #block(name: string): string {
    return this.#template.blocks.get(this.#language.publicName(name)) ?? '';
  }

  /** The function `sign` of the template by another name, with statements for its body. */
  #rule({ name, statements, usesQuery }: ExportedRule): string {
    const { comment, publicName, takesObject = false } = this.#language;
    this.#alias = {};
    const [head = '', after = ''] = this.#block('sign').split(
      new RegExp(`^(?=[ \\t]*${comment} ${ruleMark}\\n)`, 'm'),
    );
    const [margin = ''] = /^[ \t]*/.exec(after) ?? [];
    const [end = ''] = /(?:\n[ \t]*\})?$/.exec(after) ?? [];
    const body = statements.flatMap((statement) => this.#statement(statement, margin));
    if (usesQuery) body.unshift(`${margin}${comment} url: with its query, without ${name}`);
    const code = body.join('\n').replace(/\n{3,}/g, '\n\n');
    const named = head.replace(/\bsign\b/gi, (word, index: number) => {
      const isParameter = word === 'sign' && head[index + word.length] !== '(';
      return isParameter ? name : publicName(name);
    });
    const declared = takesObject ? withUsedNames(named, code) : named;
    this.#use(declared + code);
    return declared + code + end;
  }

  #statement(statement: Statement, margin: string): string[] {
    const { statements: forms, variableName, takesObject = false } = this.#language;
    const value = this.#expression(statement.value);
    if (statement.set === 'signature') return this.#lines(forms.signature, '', value, margin);
    const name = variableName(statement.variable);
    if (statement.set === 'pairs' && typeof value === 'string') {
      this.#alias = { [name]: value };
      return [];
    }
    const form = forms[statement.set];
    const isOfPair = statement.set === 'function of pair';
    const lacksValue = isOfPair && !/\bvalue\b/.test(bareCode(flat(value)));
    // Linters of JavaScript refuse a parameter that is not used.
    const usedForm = takesObject && lacksValue ? form.replace('(name, value)', '(name)') : form;
    return this.#lines(usedForm, name, value, margin);
  }

  #lines(statement: string, name: string, value: SourceCode, margin: string): string[] {
    return statement.split('\n').map((line) => {
      if (line === '') return '';
      const [beginning = '', end] = line.trimStart().split('VALUE', 2);
      const start = beginning.replace('NAME', () => name);
      const code: SourceCode = end === undefined ? [start] : [start, value, end];
      const indent = margin + line.slice(0, line.length - line.trimStart().length);
      return indent + written(code, this.#language, indent);
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
    return ['sign', 'app_sign', 'signed_request'].some(
      (replaced) => name === this.#language.publicName(replaced),
    );
  }

  #expression(expression: Expression): SourceCode {
    const { lists, literal, variableName } = this.#language;
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
        return this.#call(expression.name, expression.values);
      case 'sum':
        return this.#sum(expression);
    }
  }

  /** A sum; of bytes by a function of the template, where a language has no operator for it. */
  #sum({ parts, isBytes }: Extract<Expression, { is: 'sum' }>): SourceCode {
    const { lists, plus, sumBrackets = null, lastComma } = this.#language;
    const summands = parts.map((part) => this.#expression(part));
    const concat = this.#helper('concat');
    if (isBytes && concat !== null) {
      return group(`${concat}(`, [this.#list(lists.bytes, summands)], ')', { last: lastComma });
    }
    return group('', summands, '', { separator: plus, brackets: sumBrackets });
  }

  /**
   * A call of a function of the template; where it lacks a conversion, what would be converted.
   */
  #call(name: string, values: readonly Expression[]): SourceCode {
    const helper = this.#helper(name) ?? this.#helper(name.replace(/_ascii$/, ''));
    const [first = '', ...others] = values.map((value) => this.#expression(value));
    if (helper !== null)
      return group(`${helper}(`, [first, ...others], ')', { last: this.#language.lastComma });
    if (!conversions.has(name))
      throw new Error(`the template of ${this.#language.title} has no ${name}`);
    return first;
  }

  /** The name of a function of the template; null where it has none. */
  #helper(name: string): string | null {
    const helper = this.#language.functionName(name);
    if (!this.#template.blocks.has(helper)) return null;
    return helper;
  }

  /** @throws RecipeError where the language's library has no such digest */
  #algorithm({ algorithm, isKeyed }: Extract<Expression, { is: 'algorithm' }>): string {
    const kind = isKeyed ? 'hmac' : 'digest';
    const name = digestNames[algorithm][this.#name][kind];
    if (name !== null) return this.#language.algorithms[kind].replace('NAME', () => name);
    const title = algorithmTitles[algorithm];
    throw new RecipeError(
      'steps',
      `${this.#language.title} has no ${isKeyed ? `HMAC with ${title}` : title}`,
      'Export to another language.',
    );
  }

  #list([open, close]: readonly [string, string], items: readonly SourceCode[]): SourceCode {
    if (items.length === 0) return open.trimEnd() + close.trimStart();
    return group(open, items, close, { last: this.#language.lastComma });
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
   * A text; a long one in several, where the language joins those that stand one after the other.
   */
  #literal(text: string): SourceCode {
    const { literal, sumBrackets } = this.#language;
    if (sumBrackets === undefined) return literal(text);
    return this.#longText(text);
  }

  /** A text that may be longer than a line, such as an address. */
  #longText(text: string): SourceCode {
    const { literal, sumBrackets = null, plus, plusOfLiterals = plus, width } = this.#language;
    const whole = literal(text);
    if (whole.length < width * (sumBrackets === null ? 0.8 : 0.5)) return whole;
    const pieces: string[] = [];
    let piece = '';
    // An address is broken before its parameters; what is longer, anywhere.
    for (const part of text.match(/[?&]?[^?&]+|[?&]/g) ?? []) {
      const isLong = literal(part).length > width / 2;
      for (const unit of isLong ? [...part] : [part]) {
        if (piece !== '' && literal(piece + unit).length > width / 2) {
          pieces.push(piece);
          piece = '';
        }
        piece += unit;
      }
    }
    pieces.push(piece);
    const separator = sumBrackets === null ? plusOfLiterals : ' ';
    return group('', pieces.map(literal), '', { separator, brackets: sumBrackets });
  }

  #case({ rule, title, method, url, params, body, secret, signature }: ExportedCase): SourceCode {
    const { check, literal, nothing } = this.#language;
    const call = this.#callOf(rule, secret, {
      method: literal(method),
      url: this.#longText(url),
      params: this.#rows(params),
      body: this.#bodyText(body, nothing),
    });
    return check(this.#literal(title), call, this.#literal(signature));
  }

  #request({
    title,
    operation,
    baseUrl,
    query,
    fields,
    secret,
    sent,
  }: ExportedRequest): SourceCode {
    const { checkRequest, literal, noForm } = this.#language;
    const call = this.#callOf('signed_request', secret, {
      operation: literal(operation),
      baseUrl: literal(baseUrl),
      query: this.#rows(query),
      fields: this.#rows(fields),
    });
    return checkRequest(this.#literal(title), call, [
      literal(sent.method),
      this.#longText(sent.url),
      this.#bodyText(sent.body, noForm),
    ]);
  }

  #bodyText(body: string | null, none: string): SourceCode {
    if (body === null) return none;
    return this.#longText(body);
  }

  /** A call of a public function, which takes the secret last. */
  #callOf(
    name: string,
    secret: string,
    argumentsOf: Readonly<Record<string, SourceCode>>,
  ): SourceCode {
    const { publicName, literal, rule, takesObject = false, lastComma: last } = this.#language;
    const start = rule.replace('NAME', () => publicName(name));
    if (!takesObject) {
      return group(start, [...Object.values(argumentsOf), literal(secret)], ')', { last });
    }
    const members = Object.entries(argumentsOf).map(
      ([key, value]): SourceCode => [`${key}: `, value],
    );
    const object = group('{ ', members, ' }', { last });
    return group(start, [object, literal(secret)], ')', { last });
  }
}

/** A function of JavaScript that names of its object, and of its parameters, what its body uses. */
function withUsedNames(head: string, body: string): string {
  const isUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\b`).test(bareCode(body));
  return head.replace(/\(\{ (.*) \}, secret\)/, (_, names: string) => {
    const used = names.split(', ').filter(isUsed);
    const parameters: string[] = [];
    if (used.length > 0) parameters.push(`{ ${used.join(', ')} }`);
    else if (isUsed('secret')) parameters.push('_request');
    if (isUsed('secret')) parameters.push('secret');
    return `(${parameters.join(', ')})`;
  });
}
