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

/** A public name. */
interface PublicName {
  /** The first sentence of its doc comment. */
  readonly about: string;
  readonly code: string;
}

/** What a program calls, or writes as the options of a call; the other names have a line. */
const isDeclared = ({ code }: PublicName) =>
  !/^(?:type|interface) /.test(code) ||
  /^interface \w+(?:Options|Settings|Hooks|File|Failure|Service|Input)\b/.test(code);

/**
 * The page of the API: each public name with the first sentence of its doc comment, and what a
 * program calls with its declaration.
 */
export function apiPage(): string {
  const seen = new Set<string>();
  const sections = Object.entries(entries).map(([entry, file]) => {
    const names = [...exportsOf(file)]
      .filter(([name]) => !seen.has(name))
      .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    for (const [name] of names) seen.add(name);
    const declared = names.filter(([, one]) => isDeclared(one)).map(sectionOf);
    const others = names.filter(([, one]) => !isDeclared(one)).map(rowOf);
    const types = others.length === 0 ? '' : `\n| type | |\n|---|---|\n${others.join('')}`;
    return `## ${entry}\n\n${declared.join('\n')}${types}`;
  });
  return `<!-- Made by \`npm run docs\` from the doc comments. -->

# API

What can a program call? Each public name, without \`readonly\`. An editor shows the members of types, units, errors and
examples.

${sections.join('\n')}`;
}

function sectionOf([name, { about, code }]: readonly [string, PublicName]): string {
  return `### ${name}\n\n${about === '' ? '' : `${about}\n\n`}\`\`\`ts\n${code}\n\`\`\`\n`;
}

function rowOf([name, { about }]: readonly [string, PublicName]): string {
  return `| \`${name}\` | ${about.replaceAll('|', '\\|').replaceAll('\n', ' ')} |\n`;
}

/** What a file exports, itself or from other files, by name. */
function exportsOf(file: string): Map<string, PublicName> {
  const text = readFileSync(join(declarations, `${file}.d.ts`), 'utf8');
  const found = new Map<string, PublicName>();
  const body = parseAst(text, { lang: 'dts' }).body as unknown as readonly Node[];
  const source = (name: string) => join(dirname(file), name.replace(/\.js$/, ''));
  for (const node of body) {
    if (node.type !== 'ExportNamedDeclaration') continue;
    for (const { exported, local } of node.specifiers ?? []) {
      const from = node.source?.value ?? importedFrom(text, local.name);
      const publicName = exportsOf(source(from)).get(local.name);
      if (publicName === undefined)
        throw new Error(`${file} exports ${local.name}, which ${from} does not declare`);
      found.set(exported.name, publicName);
    }
    const { declaration } = node;
    if (declaration == null) continue;
    const name = declaration.id?.name ?? declaration.declarations?.[0]?.id?.name ?? '';
    // Overloads of a function are several declarations.
    const before = found.get(name);
    const code = declarationIn(text, node, declaration);
    const about = before?.about ?? aboutIn(text, node);
    found.set(name, { about, code: before === undefined ? code : `${before.code}\n${code}` });
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
  return linked;
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
    .replace(/^ +(?:static readonly code|(?:static |get )?\[(?:brand|Symbol\.(?!async))).*\n/gm, '')
    .replace(/^export (?:declare )?/, '')
    .replaceAll('readonly ', '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .replaceAll('    ', '  ');
}
