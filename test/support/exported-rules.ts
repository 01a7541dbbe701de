import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Recipe } from '../../src/core/signing/recipe.js';
import { formatRecipe } from '../../src/core/signing/recipe-json.js';
import type { SignableRequest } from '../../src/core/signing/request.js';
import type { LanguageName } from '../../src/lab/export/digest-names.js';
import { exportFunctions, languages } from '../../src/lab/export/export.js';
import { isProgram } from './programs.js';

/** A request that an exported rule signs. */
export interface ExportedCall {
  /** The function of the rule. */
  readonly rule: string;
  readonly request: SignableRequest;
  readonly secret: string;
}

/** How the rules of a language are built and run in one process. */
interface Runner {
  /** The programs that it needs. */
  readonly needs: readonly string[];
  readonly driver: string;
  /** The folder of the file with all rules. */
  readonly folder?: string;
  /** Changes an exported file so that it can stand beside others. */
  readonly place?: (code: string, module: string) => string;
  /** The line of the driver that names a function. */
  readonly entry?: (rule: string) => string;
  /** Commands in the folder; the last one reads the calls. */
  readonly commands: readonly (readonly string[])[];
  /** A linter that every installation has, for the folders of rules and their tests. */
  readonly lint: string;
  /** Runs the test in a folder, where the linter has compiled it. */
  readonly test?: (folder: string) => string;
  /**
   * A program that calls `signed_request` of a pair, and prints `SENT METHOD URL BODY`; as which
   * file, and how it runs after the linter.
   */
  readonly caller: { readonly program: string; readonly as?: string; readonly run: string };
}

/** The folder whose names are those of an exported file as it stands. */
export const asExported = 'signing';

const project = join(import.meta.dirname, '..', '..');
const programs = join(project, 'test', 'lab', 'export', 'exported');

export const runners: Readonly<Record<LanguageName, Runner>> = {
  javascript: {
    needs: ['node'],
    driver: 'driver.mjs',
    commands: [['node', 'driver.mjs']],
    lint: `${join(project, 'node_modules', '.bin', 'biome')} lint --error-on-warnings .`,
    caller: { program: 'caller.mjs', run: 'node caller.mjs' },
  },
  python: {
    needs: ['python3'],
    driver: 'driver.py',
    commands: [['python3', '-B', 'driver.py']],
    lint: 'python3 -m py_compile */*.py',
    caller: { program: 'caller.py', run: 'python3 -B caller.py' },
  },
  php: {
    needs: ['php'],
    driver: 'driver.php',
    place: (code, module) => code.replace('namespace Signing;', `namespace ${module};`),
    commands: [['php', 'driver.php']],
    lint: 'for file in */*.php; do php -l $file || exit; done',
    caller: { program: 'caller.php', run: 'php caller.php' },
  },
  java: {
    needs: ['java', 'javac'],
    driver: 'Driver.java',
    place: (code, module) => code.replace('package signing;', `package ${module};`),
    folder: 'signing',
    entry: (rule) => `rules.put("${rule}", signing.Signature::${rule});`,
    commands: [
      [
        'sh',
        '-c',
        'javac -encoding US-ASCII -Xlint:all -Werror Driver.java signing/Signature.java',
      ],
      ['java', 'Driver'],
    ],
    lint: 'javac -encoding US-ASCII -Xlint:all -Werror -d . */*.java',
    test: (folder) => `java ${folder}.SignatureTest`,
    caller: { program: 'Caller.java', run: 'java -cp .. Caller' },
  },
  csharp: {
    needs: ['mcs', 'mono'],
    driver: 'Driver.cs',
    place: (code, module) => code.replace('namespace Signing', `namespace ${module}`),
    entry: (rule) => `rules["${rule}"] = Signing.Signature.${rule.toUpperCase()};`,
    commands: [
      ['sh', '-c', 'mcs -warn:4 -warnaserror -out:driver.exe Driver.cs Signature.cs'],
      ['mono', 'driver.exe'],
    ],
    lint: 'mcs -warn:4 -warnaserror -target:library -out:lint.dll */Signature.cs */SignatureTest.cs',
    caller: {
      program: 'Caller.cs',
      run: 'mcs -out:caller.exe Signature.cs Caller.cs && mono caller.exe',
    },
  },
  go: {
    needs: ['go'],
    driver: 'driver.go.txt',
    folder: 'rules',
    entry: (rule) => `"${rule}": signature.${rule.toUpperCase()},`,
    commands: [
      [
        'sh',
        '-c',
        'mv driver.go.txt driver.go; echo module signing > go.mod; ! gofmt -d rules | grep . && go build -o driver .',
      ],
      ['./driver'],
    ],
    lint: 'echo module signing > go.mod; ! gofmt -d . | grep . && go vet ./...',
    caller: {
      program: 'caller.go.txt',
      as: 'caller_test.go',
      run: 'go test -v -run TestCaller signature.go caller_test.go',
    },
  },
};

/** Runs a program to its end, with the event loop free. */
export async function runProgram(
  program: string,
  args: readonly string[],
  folder: string,
  input = '',
) {
  // A virtual machine of Java that lives for a second should not compile for one that lives for
  // hours.
  const env = { ...process.env, JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' };
  const child = spawn(program, args, { cwd: folder, env });
  child.stdin.on('error', () => {}); // it may end without reading
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve);
    child.on('error', reject);
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, stdout, stderr };
}

export function isInstalled(language: LanguageName): boolean {
  return runners[language].needs.every(isProgram);
}

/** Rules with their tests, each in a folder of its own: a compiler starts once for all of them. */
export class ExportedFiles implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'userinfo-exported-'));
  readonly #language: LanguageName;

  constructor(language: LanguageName) {
    this.#language = language;
  }

  add(folder: string, rule: string, test: string): void {
    const { files } = languages[this.#language];
    const { place = (code) => code, caller } = runners[this.#language];
    const write = (file: string, code: string) =>
      writeFileSync(
        join(this.folder, folder, file),
        folder === asExported ? code : place(code, folder),
      );
    mkdirSync(join(this.folder, folder));
    write(files.rule, rule);
    write(files.test, test);
    if (folder === asExported)
      write(caller.as ?? caller.program, readFileSync(join(programs, caller.program), 'utf8'));
  }

  /** The status of a command in a folder, and what it prints. */
  run(command: string, folder = '.') {
    return runProgram('sh', ['-c', command], join(this.folder, folder));
  }

  lint() {
    return this.run(runners[this.#language].lint);
  }

  /**
   * Runs the test in a folder: as the user of an exported file does, or as it was compiled before.
   */
  test(folder: string) {
    const { test } = runners[this.#language];
    return folder === asExported || test === undefined
      ? this.run(languages[this.#language].run, folder)
      : this.run(test(folder));
  }

  /** The request that the rules of a pair make. */
  async call(): Promise<{ readonly method: string; readonly url: string; readonly body: string }> {
    const { stdout, stderr } = await this.run(runners[this.#language].caller.run, asExported);
    const [, method, url, body] = /^SENT (\S+) (\S+) (\S*)\r?$/m.exec(stdout) ?? [];
    if (method === undefined || url === undefined || body === undefined) {
      throw new Error(stderr + stdout);
    }
    return { method, url, body };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Exported rules of one language in one file, which is compiled once. */
export class ExportedRules implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'userinfo-exported-'));
  readonly #language: LanguageName;
  /** By function; a rule that is exported again is none. */
  readonly #recipes = new Map<string, Recipe>();
  readonly #names = new Map<string, string>();

  constructor(language: LanguageName) {
    this.#language = language;
  }

  /** The function of a rule. */
  add(recipe: Recipe): string {
    const key = JSON.stringify(formatRecipe(recipe));
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = `r${this.#names.size}`;
    this.#names.set(key, name);
    this.#recipes.set(name, recipe);
    return name;
  }

  /**
   * The signature of each call; an error where the rule ends with one.
   *
   * @throws RecipeError for what the language cannot express
   */
  async sign(calls: readonly ExportedCall[], from: string): Promise<(string | Error)[]> {
    const { driver, folder = '.', entry = () => '', commands } = runners[this.#language];
    const entries = [...this.#recipes.keys()].map(entry).join('\n');
    const code = readFileSync(join(programs, driver), 'utf8').replace('/* rules */', entries);
    writeFileSync(join(this.folder, driver), code);
    mkdirSync(join(this.folder, folder), { recursive: true });
    writeFileSync(
      join(this.folder, folder, languages[this.#language].files.rule),
      exportFunctions(Object.fromEntries(this.#recipes), this.#language, { from }),
    );
    const input = calls.map((call) => `${lineOf(call)}\n`).join('');
    let printed = '';
    for (const [index, command] of commands.entries()) {
      printed = await this.#run(command, index === commands.length - 1 ? input : '');
    }
    // A signature may be empty, that of the last call, too.
    return printed
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map(doneOf);
  }

  async #run([program = '', ...args]: readonly string[], input: string): Promise<string> {
    const { status, stdout, stderr } = await runProgram(program, args, this.folder, input);
    if (status === 0) return stdout;
    throw new Error(
      `${program} ${args.join(' ')} in ${this.folder}: ${stderr}${stdout}`.slice(0, 3000),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

function lineOf({ rule, request, secret }: ExportedCall): string {
  const { method, params, query, body } = request;
  const url = query === undefined ? request.url : `${request.url}?${query}`;
  const pairs = params.map(([name, value]) => [name, value].map(units).join('=')).join(',');
  const sent = body === null ? '-' : units(body);
  return [rule, units(method), units(url), sent, units(secret), pairs].join(' ');
}

/** The UTF-16 units of a text in hex: no language has to decode anything else. */
function units(text: string): string {
  return Buffer.from(text, 'utf16le').swap16().toString('hex');
}

function doneOf(line: string): string | Error {
  const textOf = (hex: string) => Buffer.from(hex, 'hex').swap16().toString('utf16le');
  return line.startsWith('!') ? new Error(textOf(line.slice(1))) : textOf(line);
}
