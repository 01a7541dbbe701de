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

/** Takes a template of a language apart. */
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
    .find((text) => text.startsWith(outer) && text.replace(commentLine, '') !== '');
  const [, name = ''] = /\b(\w+)\s*[(=]/.exec(line ?? '') ?? [];
  if (['', 'import', 'declare'].includes(name)) return null;
  return name;
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
  const lines = beginning.split('\n').map((line) => usedImport(line, bare));
  return lines.filter((line) => line !== null).join('\n');
}

/** A line with the imports that the code uses; null for an import of which it uses nothing. */
function usedImport(line: string, bare: string): string | null {
  const isUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\b`).test(bare);
  const isModuleUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\.`).test(bare);

  // C#: `using System.Linq; // Select, Where`.
  const [, using, uses = ''] = /^(using .*;) \/\/ (.*)$/.exec(line) ?? [];
  if (using !== undefined) {
    if (uses.split(', ').some((name) => new RegExp(`\\b${name}\\b`).test(bare))) return using;
    return null;
  }
  // Python and JavaScript: `import hashlib`, `from typing import List`, `import { x } from …`.
  const [, start = '', list, end = ''] =
    /^((?:from \S+ )?import (?:\{ )?)([\w, ]+?)( \}.*)?$/.exec(line) ?? [];
  if (list !== undefined && !line.includes('__future__')) {
    const isModule = start === 'import ';
    const names = list.split(', ').filter(isModule ? isModuleUsed : isUsed);
    if (names.length === 0) return null;
    return start + names.join(', ') + end;
  }
  // Go: `"crypto/hmac"`, a line each.
  const [, path] = /^\t"(?:.*\/)?(\w+)"$/.exec(line) ?? [];
  if (path !== undefined && !isModuleUsed(path)) return null;
  // Java: `import java.util.List;`.
  const [, type] = /^import .*\.(\w+);$/.exec(line) ?? [];
  if (type !== undefined && !isUsed(type)) return null;
  return line;
}
