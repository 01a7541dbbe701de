import type { Language } from './languages.js';

/**
 * A file of a language, taken apart: what stands at its beginning, its functions and constants by
 * name in their order, and its end.
 */
export interface TemplateFile {
  readonly beginning: string;
  readonly blocks: ReadonlyMap<string, string>;
  readonly end: string;
}

/** The line of a template where lines of comment come in. */
export const headerMark = 'HEADER';
/** The comment that begins the body of `sign`, for which a rule comes in. */
export const ruleMark = 'RULE';

export function readTemplate(text: string, { comment, indent }: Language): TemplateFile {
  const [, margin = ''] = new RegExp(`^([ \\t]*)${comment} ${ruleMark}$`, 'm').exec(text) ?? [];
  const outer = margin.slice(indent.length);
  // A block begins at the indent of members, after an empty line or the brace of the class.
  const chunks = text
    .trimEnd()
    .split(new RegExp(`\\n\\n+(?=${outer}[^\\s}])|(?<=^ *\\{)\\n(?=${outer}\\S)`, 'm'));
  const named = chunks.map((chunk) => [nameOf(chunk, outer), chunk] as const);
  // In a class, its beginning is before the first block.
  const first = outer === '' ? named.findIndex(([name]) => name !== null) : 1;
  const blocks = new Map(named.slice(first).map(([name, chunk]) => [name ?? '', chunk]));
  const beginning = chunks.slice(0, first).join('\n\n');
  if (outer === '') return { beginning, blocks, end: '' };
  const [last = '', code = ''] = [...blocks].at(-1) ?? [];
  const end = code.search(new RegExp(`\\n(?!${outer})`));
  return { beginning, blocks: blocks.set(last, code.slice(0, end)), end: code.slice(end) };
}

/** The name that a chunk defines; null for a part of the beginning. */
function nameOf(chunk: string, outer: string): string | null {
  const line = chunk
    .split('\n')
    .find((one) => one.startsWith(outer) && one.replace(commentLine, '') !== '');
  const [, name = ''] = /\b(\w+)\s*[(=]/.exec(line ?? '') ?? [];
  return name === '' || name === 'import' || name === 'declare' ? null : name;
}

const commentLine = /^\s*(?:\/\/|#|\/\*|\*(?=[ /]|$)).*$/gm;

/** Code without comments and what is in quotes. */
export function bareCode(code: string): string {
  return code
    .replace(commentLine, '')
    .replace(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
}

/** The beginning of a file without the imports that the code does not use. */
export function withImports(beginning: string, code: string): string {
  const bare = bareCode(code);
  const isUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\b`).test(bare);
  const isModuleUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\.`).test(bare);
  const lines = beginning.split('\n').flatMap((line) => {
    const [, using, uses = ''] = /^(using .*;) \/\/ (.*)$/.exec(line) ?? [];
    if (using !== undefined)
      return uses.split(', ').some((name) => bare.match(`\\b${name}\\b`)) ? [using] : [];
    const [, start = '', list, end = ''] =
      /^((?:from \S+ )?import (?:\{ )?)([\w, ]+?)( \}.*)?$/.exec(line) ?? [];
    if (list !== undefined && !line.includes('__future__')) {
      const isModule = start === 'import ';
      const names = list.split(', ').filter(isModule ? isModuleUsed : isUsed);
      return names.length === 0 ? [] : [start + names.join(', ') + end];
    }
    const [, path] = /^\t"(?:.*\/)?(\w+)"$/.exec(line) ?? [];
    if (path !== undefined) return isModuleUsed(path) ? [line] : [];
    const [, type] = /^import .*\.(\w+);$/.exec(line) ?? [];
    return type === undefined || isUsed(type) ? [line] : [];
  });
  return lines.join('\n');
}
