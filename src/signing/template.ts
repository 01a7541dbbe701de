import type { Ink } from './ink.js';
import { parseBracedToken, parseToken, type Token } from './tokens.js';

/** Literals and tokens, one after the other. */
export type Template = readonly (string | Token)[];

const tokenShape = /\$\$|\$\{([^{}]*)\}((?:\.[\w:-]*)*)|\$([\w.:-]*)/g;

/**
 * Reads `&key=$secret`. A token ends at the first character outside `[A-Za-z0-9_.:-]`, or at its brace where it
 * is written `${secret}`; a literal `$` is `$$`.
 *
 * @throws RecipeError for a token or modifier that there is not
 */
export function parseTemplate(text: string, field: string): Template {
  const template: (string | Token)[] = [];
  let end = 0;
  for (const match of text.matchAll(tokenShape)) {
    const [whole, braced, suffix = '', bare = ''] = match;
    if (match.index > end) template.push(text.slice(end, match.index));
    if (whole === '$$') template.push('$');
    else if (braced !== undefined) template.push(parseBracedToken(braced, suffix, field));
    else template.push(parseToken(bare, field));
    end = match.index + whole.length;
  }
  if (end < text.length) template.push(text.slice(end));
  return template;
}

/** Several templates as one, with the literal `join` between them. */
export function parseTemplates(texts: readonly string[], field: string, join = ''): Template {
  return texts.flatMap((text, index) => {
    const template = parseTemplate(text, `${field}[${index}]`);
    return index === 0 || join === '' ? template : [join, ...template];
  });
}

export function tokensOf(template: Template): Token[] {
  return template.filter((part) => typeof part !== 'string');
}

/** Writes a template, each token as `read` gives it, changed by the token's modifiers. */
export function renderTemplate<T>(template: Template, ink: Ink<T>, read: (token: Token) => T): T {
  let text = ink.empty;
  for (const part of template) {
    text = ink.join(text, typeof part === 'string' ? ink.open(part) : renderToken(part, ink, read));
  }
  return text;
}

function renderToken<T>(token: Token, ink: Ink<T>, read: (token: Token) => T): T {
  let text = read(token);
  for (const change of token.changes) text = ink.change(text, change);
  return text;
}
