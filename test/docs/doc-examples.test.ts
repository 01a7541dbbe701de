import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const project = resolve(import.meta.dirname, '../..');
const folder = join(project, 'node_modules/.cache/doc-examples');
const entries = {
  'userinfo-exchange': 'src/index.ts',
  'userinfo-exchange/profiles': 'src/client/profiles.ts',
  'userinfo-exchange/service': 'src/service/index.ts',
};

/** What the examples take for granted. */
const world = `
  const client: UserInfoClient, options: UserInfoClientOptions, code: string, error: unknown;
  const request: SignableRequest, signer: Signer, service: Service, testService: TestService, job: unknown;
  const queue: { retry(job: unknown, id?: string): Promise<void> }, run: () => void;
  const metrics: { count(name: string): void; time(name: string, ms: number): void };
  const vault: { read(name: string): Promise<{ value: string }> }, secrets: { get: (typeof vault)['read'] };
  const gateway: { newToken(): Promise<string> };
  const kms: { mac(params: unknown): Promise<string> };
  const kmsSigner: RequestSigner;
  const response: { status(code: number): { end(): void; json(body: object): void }; redirect(to: string): void };
`;

function builtFile(entry: string, ending: string): string {
  return join(project, entry.replace('src/', 'dist/').replace('.ts', ending));
}

/** A public name, and the file that declares it. */
interface Export {
  readonly name: string;
  readonly file: string;
}

function exportsOf(entry: string): Export[] {
  const text = readFileSync(join(project, entry), 'utf8');
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '(.*)\.js';/gm)].flatMap(
    ([, names = '', path = '']) =>
      names
        .split(',')
        .map((name) => name.replace(/\btype\b/, '').trim())
        .filter((name) => name !== '')
        .map((name) => ({ name, file: join(dirname(entry), `${path}.ts`) })),
  );
  const own = [
    ...text.matchAll(/^export (?:async )?(?:function|interface|type|const|class) (\w+)/gm),
  ];
  return [...passedOn, ...own.map(([, name = '']) => ({ name, file: entry }))];
}

/**
 * The doc comment before the declaration of a public name; that of a class has those of its members
 * too.
 */
function commentsOf({ name, file }: Export): string {
  const text = readFileSync(join(project, file), 'utf8');
  const passedOn = new RegExp(`export \\{[^}]*\\b${name}\\b[^}]*\\} ?(?:from '(.*)\\.js')?;`).exec(
    text,
  )?.[1];
  if (passedOn !== undefined)
    return commentsOf({ name, file: join(dirname(file), `${passedOn}.ts`) });
  const declared = new RegExp(
    `^export (?:abstract |async )*(?:function|interface|type|const|class) ${name}\\b`,
    'm',
  );
  const at = declared.exec(text)?.index ?? Number.NaN;
  if (Number.isNaN(at)) {
    const source = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '(.*)\\.js'`).exec(
      text,
    )?.[1];
    return source === undefined
      ? ''
      : commentsOf({ name, file: join(dirname(file), `${source}.ts`) });
  }
  const before = text.slice(0, at).replace(/\/\/ biome-ignore.*\n$/, '');
  const comment = before.trimEnd().endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : '';
  return comment + (text.slice(at).startsWith('export class') ? text.slice(at) : '');
}

/**
 * The public names by the entry that they are imported from; one that two entries have is imported
 * from the first.
 */
function namesByEntry(): Map<string, string[]> {
  const seen = new Set<string>();
  const names = new Map<string, string[]>();
  for (const [from, entry] of Object.entries(entries)) {
    const all = exportsOf(entry).map(({ name }) => name);
    names.set(
      from,
      all.filter((name) => !seen.has(name)),
    );
    for (const name of all) seen.add(name);
  }
  return names;
}

function examplesIn(comments: string): string[] {
  return [...comments.matchAll(/@example\n((?:\s*\*(?: .*)?\n)*?)(?=\s*\*\/|\s*\* @)/g)].map(
    ([, lines = '']) => lines.replace(/^\s*\* ?/gm, ''),
  );
}

/** An example as a module: its imports and declarations of modules, the rest in a function. */
function moduleOf(example: string, names: ReadonlyMap<string, readonly string[]>): string {
  const outside = /^(?:import .*;\n|declare module [\s\S]*?^\}\n)/gm;
  const own = example.match(outside) ?? [];
  const imports = [...names].map(([from, all]) => {
    const needed = all.filter(
      (name) => new RegExp(`\\b${name}\\b`).test(example) && !own.join('').includes(name),
    );
    return `import { ${needed.join(', ')} } from '${from}';\n`;
  });
  const helper = example.includes('createHmac')
    ? "import { createHmac } from 'node:crypto';\n"
    : '';
  return `${helper}${imports.join('')}${own.join('')}export async function example() {\n${example.replace(outside, '')}}\n`;
}

beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('every public function, class and constant has an example, and all examples compile', async () => {
  const names = namesByEntry();
  const all = Object.values(entries).flatMap(exportsOf);
  expect(all.length).toBeGreaterThan(80);
  const examples = all.map((one) => ({ ...one, found: examplesIn(commentsOf(one)) }));
  const urls = Object.values(entries).map((entry) => pathToFileURL(builtFile(entry, '.js')).href);
  const modules = await Promise.all(urls.map((url) => import(url)));
  const values = new Set(modules.flatMap((module) => Object.keys(module)));
  const without = examples.filter(({ name, found }) => found.length === 0 && values.has(name));
  expect(without.map(({ name }) => name)).toEqual([]);
  for (const [at, { name, found }] of examples.entries()) {
    found.forEach((example, index) => {
      writeFileSync(join(folder, `${at}-${index}-${name}.ts`), moduleOf(example, names));
    });
  }
  const types = [...names]
    .map(([from, all]) => `import type { ${all.join(', ')} } from '${from}';\n`)
    .join('');
  writeFileSync(join(folder, 'world.d.ts'), `${types}declare global {${world}}\nexport {};\n`);
  writeFileSync(join(folder, 'our-signing.ts'), "export const sign = () => ({ digest: '' });\n");
  const paths = Object.fromEntries(
    Object.entries(entries).map(([from, entry]) => [from, [builtFile(entry, '.d.ts')]]),
  );
  const config = {
    extends: join(project, 'tsconfig.json'),
    compilerOptions: { paths, noEmit: true, verbatimModuleSyntax: false },
    include: ['.'],
    exclude: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  let faults = '';
  try {
    execFileSync(
      process.execPath,
      [join(project, 'node_modules/typescript/bin/tsc'), '-p', folder],
      {
        encoding: 'utf8',
      },
    );
  } catch (error) {
    faults = String((error as { stdout?: unknown }).stdout);
  }
  expect(faults).toBe('');
});
