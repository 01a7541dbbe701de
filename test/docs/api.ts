import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

const declarations = resolve(import.meta.dirname, '../../dist');

/** The entries of the package, and the files that declare what they export. */
const entries = {
  'userinfo-exchange': 'index',
  'userinfo-exchange/service': 'service/index',
  'userinfo-exchange/profiles': 'client/profiles',
};

/** A part of a file of declarations, by its place in the text. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly declaration?: Node | null;
  readonly id?: { readonly name: string };
  readonly declarations?: readonly Node[];
  readonly specifiers?: readonly {
    readonly exported: { readonly name: string };
    readonly local: { readonly name: string };
  }[];
  readonly source?: { readonly value: string } | null;
  readonly body?: { readonly body?: readonly Member[] };
}

interface Member extends Node {
  readonly accessibility?: string | null;
  readonly key?: { readonly type: string };
}

/**
 * The page of the API: each public name, the first sentence of its doc comment, and its
 * declaration.
 */
export function apiPage(): string {
  const seen = new Set<string>();
  const sections = Object.entries(entries).map(([entry, file]) => {
    const names = [...exportsOf(file)].sort(([a], [b]) =>
      a.toLowerCase() < b.toLowerCase() ? -1 : 1,
    );
    const own = names.filter(([name]) => !seen.has(name));
    const again = names
      .filter(([name]) => seen.has(name))
      .map(([name]) => `[${name}](#${name.toLowerCase()})`);
    for (const [name] of own) seen.add(name);
    const also = again.length === 0 ? '' : `Also exports ${again.join(', ')}.\n\n`;
    return `## ${entry}\n\n${also}${own.map(([name, text]) => `### ${name}\n\n${text}`).join('\n')}`;
  });
  return `<!-- Made by \`npm run docs\` from the doc comments. -->

# API

Each public name with its declaration, without \`readonly\`. An editor shows the doc comments, with units, errors and
examples.

${sections.join('\n')}`;
}

/** What a file exports, itself or from other files, by name. */
function exportsOf(file: string): Map<string, string> {
  const text = readFileSync(join(declarations, `${file}.d.ts`), 'utf8');
  const found = new Map<string, string>();
  const body = parseAst(text, { lang: 'dts' }).body as unknown as readonly Node[];
  const source = (name: string) => join(dirname(file), name.replace(/\.js$/, ''));
  for (const node of body) {
    if (node.type !== 'ExportNamedDeclaration') continue;
    for (const { exported, local } of node.specifiers ?? []) {
      const from = node.source?.value ?? importedFrom(text, local.name);
      const section = exportsOf(source(from)).get(local.name);
      if (section === undefined)
        throw new Error(`${file} exports ${local.name}, which ${from} does not declare`);
      found.set(exported.name, section);
    }
    const { declaration } = node;
    if (declaration == null) continue;
    const name = declaration.id?.name ?? declaration.declarations?.[0]?.id?.name ?? '';
    // Overloads of a function are several declarations.
    const before = found.get(name);
    const code = declarationIn(text, node, declaration);
    if (before === undefined) found.set(name, `${aboutIn(text, node)}\`\`\`ts\n${code}\n\`\`\`\n`);
    else found.set(name, before.replace(/\n```\n$/, `\n${code}\n\`\`\`\n`));
  }
  return found;
}

function importedFrom(text: string, name: string): string {
  const source = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '(.*)'`).exec(
    text,
  )?.[1];
  if (source === undefined) throw new Error(`${name} is exported, but not imported`);
  return source;
}

/** The first sentence of the doc comment that ends where a declaration begins. */
function aboutIn(text: string, { start }: Node): string {
  const before = text.slice(0, start).trimEnd();
  if (!before.endsWith('*/')) return '';
  const comment = before.slice(before.lastIndexOf('/**') + 3, -2).replace(/^[ \t]*\* ?/gm, '');
  const paragraph = comment.split(/\n\s*\n|^@/m)[0]?.trim() ?? '';
  const about = paragraph.split(/(?<=\D\.)\s+(?=[A-Z`])/)[0] ?? '';
  const linked = about.replace(/\{@link (\w+)\}/g, '`$1`').replaceAll('<', '\\<');
  return about === '' ? '' : `${linked}\n\n`;
}

/** A declaration without comments, without private members and without `readonly`. */
function declarationIn(text: string, { start, end }: Node, declaration: Node): string {
  const hidden = (declaration.body?.body ?? []).filter(
    ({ accessibility, key }) => accessibility === 'private' || key?.type === 'PrivateIdentifier',
  );
  let code = text.slice(start, end);
  for (const member of [...hidden].reverse())
    code = code.slice(0, member.start - start) + code.slice(member.end - start);
  return code
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/^export (?:declare )?/, '')
    .replaceAll('readonly ', '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .replaceAll('    ', '  ');
}
