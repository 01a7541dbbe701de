import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

/** The faults that scripts/layers finds in a project of these files. */
function faultsOf(sources: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'userinfo-layers-'));
  const script = `
    import { errorTextFaults } from './layers/error-texts.mjs';
    import { importFaults } from './layers/imports.mjs';
    import { nameFaults } from './layers/names.mjs';
    import { readSources } from './layers/source-files.mjs';
    const sources = readSources('src');
    const checks = [importFaults, nameFaults, errorTextFaults];
    console.log(JSON.stringify(checks.flatMap((check) => [...check(sources)])));`;
  const files = {
    ...sources,
    'run.mjs': script,
    'node_modules/parser/package.json': '{ "exports": { ".": "./index.js", "./sync": "./sync.js" } }',
    'node_modules/@scope/sockets/package.json': '{}',
  };
  try {
    cpSync(resolve('scripts/layers'), join(folder, 'layers'), { recursive: true });
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return JSON.parse(execFileSync(process.execPath, ['run.mjs'], { cwd: folder, encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('refuses what breaks the structure of src, and nothing else', () => {
  const found = faultsOf({
    // A circular import of types, one of them in an import of several lines.
    'src/client/sender.ts': "import type { Retry } from './retry.js';\nexport interface Sender {}\n",
    'src/client/retry.ts': "import {\n  type Sender,\n} from './sender.js';\nexport interface Retry {}\n",
    // What is loaded late is never loaded with what imports it, except for its types.
    'src/cli/rest.late.ts': 'export type Rest = string;\n',
    'src/cli/first.ts':
      "import type { Rest } from './rest.late.js';\nexport const rest = () => import('./rest.late.js');\n",
    'src/cli/second.ts': "import './rest.late.js';\n",
    // Circular, too: what is loaded later imports its loader.
    'src/cli/late.ts': "import { early } from './early.js';\nexport const late = early;\n",
    'src/cli/early.ts': "export const early = () => import('./late.js');\n",
    // A folder above its own, another beside the entry points, one that nobody knows.
    'src/support/shell.ts': "export { Retry } from '../client/retry.js';\n",
    'src/cli/serve.ts': "import '../service/store/apps.js';\nimport '../service/index.js';\n",
    'src/service/store/apps.ts': '',
    'src/service/index.ts': '',
    'src/attic/old.ts': '',
    // Exported and private files of packages.
    'src/bulk/rows.ts': "import 'node:fs/promises';\nimport { parse } from 'parser/sync';\n",
    'src/bulk/pool.ts':
      "import Pool from '@scope/sockets/lib/pool.js';\nimport { lex } from 'parser/lexer';\n",
    // One name for two things; a second declaration of the same thing in its file is none.
    'src/bulk/verdict.ts': 'export type Verdict = string;\nexport const Verdict = 1;\n',
    'src/cli/verdict.ts': 'export abstract class Verdict {}\n',
    // Errors that are judged by their English. In signing, a message is the text to sign.
    'src/cli/advice.ts':
      "const a = error.message.includes('sent');\nconst b = /sent/.test(failure.hint ?? '');\n",
    'src/signing/cut.ts': "const a = message.startsWith('a');\nconst b = error.message.startsWith('a');\n",
  });
  expect(
    found.filter((fault) => !/is an entry point, but|nothing imports|judges no text/.test(fault)),
  ).toEqual([
    'src/attic: scripts/layers/imports.mjs knows no such folder',
    'src/support/shell.ts imports src/client/retry.ts: support may not import client',
    'src/cli/serve.ts imports src/service/store/apps.ts, which is no entry point of service',
    'src/cli/second.ts imports src/cli/rest.late.ts, which only import() loads',
    'circular import: src/cli/early.ts -> src/cli/late.ts -> src/cli/early.ts',
    'circular import: src/client/retry.ts -> src/client/sender.ts -> src/client/retry.ts',
    'src/bulk/pool.ts imports @scope/sockets/lib/pool.js, a private file of @scope/sockets',
    'src/bulk/pool.ts imports parser/lexer, a private file of parser',
    'Verdict is exported by src/bulk/verdict.ts and by src/cli/verdict.ts: rename one of them',
    "src/cli/advice.ts:1 judges an error by its English: const a = error.message.includes('sent');",
    "src/cli/advice.ts:2 judges an error by its English: const b = /sent/.test(failure.hint ?? '');",
    "src/signing/cut.ts:2 judges an error by its English: const b = error.message.startsWith('a');",
  ]);
  // A list of exceptions or entry points contains nothing that is no longer needed.
  expect(found).toContain('src/solve/solve.ts is an entry point, but no other folder imports it');
  expect(found).toContain('scripts/layers/error-texts.mjs: src/support/json-fault.ts judges no text');
});
