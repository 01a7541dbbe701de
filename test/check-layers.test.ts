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
    'node_modules/parser/package.json':
      '{ "exports": { ".": "./index.js", "./sync": "./sync.js" } }',
    'node_modules/@scope/sockets/package.json': '{}',
  };
  try {
    cpSync(resolve('scripts/layers'), join(folder, 'layers'), { recursive: true });
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return JSON.parse(
      execFileSync(process.execPath, ['run.mjs'], { cwd: folder, encoding: 'utf8' }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('refuses what breaks the structure of src, and nothing else', () => {
  const found = faultsOf({
    // A circular import of types, one of them in an import of several lines.
    'src/client/call/sender.ts':
      "import type { Retry } from './retry.js';\nexport interface Sender {}\n",
    'src/client/call/retry.ts':
      "import {\n  type Sender,\n} from './sender.js';\nexport interface Retry {}\n",
    // What is loaded late is never loaded with what imports it, except for its types.
    'src/cli/rest.late.ts': 'export type Rest = string;\n',
    'src/cli/first.ts':
      "import type { Rest } from './rest.late.js';\nexport const rest = () => import('./rest.late.js');\n",
    'src/cli/second.ts': "import './rest.late.js';\n",
    // Circular, too: what is loaded later imports its loader.
    'src/cli/late.ts': "import { early } from './early.js';\nexport const late = early;\n",
    'src/cli/early.ts': "export const early = () => import('./late.js');\n",
    // A room above its own, the part of the lab that none but the service explains with, one that
    // nobody knows.
    'src/core/support/shell.ts': "export { Retry } from '../../client/call/retry.js';\n",
    'src/service/page.ts': "import '../lab/verify/suspect.js';\nimport '../lab/rules.js';\n",
    'src/lab/rules.ts': '',
    'src/lab/verify/suspect.ts': "import '../rules.js';\n",
    'src/attic/old.ts': '',
    // Exported and private files of packages.
    'src/client/rows/rows.ts': "import 'node:fs/promises';\nimport { parse } from 'parser/sync';\n",
    'src/client/rows/pool.ts':
      "import Pool from '@scope/sockets/lib/pool.js';\nimport { lex } from 'parser/lexer';\n",
    // One name for two things; a second declaration of the same thing in its file is none.
    'src/client/rows/verdict.ts': 'export type Verdict = string;\nexport const Verdict = 1;\n',
    'src/cli/verdict.ts': 'export abstract class Verdict {}\n',
    // Errors that are judged by their English. In signing, a message is the text to sign.
    'src/cli/advice.ts':
      "const a = error.message.includes('sent');\nconst b = /sent/.test(failure.hint ?? '');\n",
    'src/core/signing/cut.ts':
      "const a = message.startsWith('a');\nconst b = error.message.startsWith('a');\n",
  });
  expect(found.filter((fault) => !/judges no text/.test(fault))).toEqual([
    'src/attic/old.ts is in no room that scripts/layers/imports.mjs knows',
    'src/core/support/shell.ts imports src/client/call/retry.ts: core/support may not import client',
    'src/lab/verify/suspect.ts imports src/lab/rules.ts: lab/verify may not import lab',
    'src/service/page.ts imports src/lab/rules.ts: service may not import lab',
    'src/cli/second.ts imports src/cli/rest.late.ts, which only import() loads',
    'circular import: src/cli/early.ts -> src/cli/late.ts -> src/cli/early.ts',
    'circular import: src/client/call/retry.ts -> src/client/call/sender.ts -> src/client/call/retry.ts',
    'src/client/rows/pool.ts imports @scope/sockets/lib/pool.js, a private file of @scope/sockets',
    'src/client/rows/pool.ts imports parser/lexer, a private file of parser',
    'Verdict is exported by src/cli/verdict.ts and by src/client/rows/verdict.ts: rename one of them',
    "src/cli/advice.ts:1 judges an error by its English: const a = error.message.includes('sent');",
    "src/cli/advice.ts:2 judges an error by its English: const b = /sent/.test(failure.hint ?? '');",
    "src/core/signing/cut.ts:2 judges an error by its English: const b = error.message.startsWith('a');",
  ]);
  // A list of exceptions contains nothing that is no longer needed.
  expect(found).toContain(
    'scripts/layers/error-texts.mjs: src/core/contract/masking.ts judges no text',
  );
});
