import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'userinfo-misuse-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Calls as they are mistaken, and what the compiler has to say of each. */
const mistakes: readonly (readonly [call: string, says: RegExp])[] = [
  ["client.read({ code, infoNames: 'mobile' })", /'string' .* 'readonly string\[\]'/],
  ["client.read({ code, infoNames: ['Mobile'] })", /'"Mobile"' .* '"mobile"'/],
  ['client.read({ code, infoNames: [5] })', /'number' .* 'string'/],
  ["client.passback({ userInfo: { a: 'x' } })", /'unionId' is missing .* 'NamedByUnionId'/],
  ['client.passback({ unionId, userInfo: { a: { b: 1 } } })', /'string \| number \| bigint/],
  ["client.passback({ unionId, userInfo: ['a'] })", /'string\[\]' .* UserInfoValue/],
  ["client.passback({ unionID: 'u', userInfo: { a: 'x' } })", /Did you mean .*'unionId'/],
];

describe('what a mistake makes the compiler say leads to the right call', () => {
  let said: string[] = [];

  beforeAll(async () => {
    const lines = mistakes.map(([call]) => `void (() => ${call});`);
    const program = [
      `import type { UserInfoClient } from ${JSON.stringify(join(project, 'src/index.js'))};`,
      'declare const client: UserInfoClient, code: string, unionId: string;',
      ...lines,
    ];
    writeFileSync(join(folder, 'misuse.ts'), program.join('\n'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const settings = {
      extends: join(project, 'tsconfig.json'),
      compilerOptions: { noEmit: true, typeRoots: [join(project, 'node_modules/@types')] },
      include: ['misuse.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(project, 'node_modules/typescript/bin/tsc');
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, '-p', folder], (_, stdout) => resolve(stdout));
    });
    const messages = output.split(/^(?=\S*misuse\.ts\()/m);
    said = lines.map((line) => {
      const place = `misuse.ts(${program.indexOf(line) + 1},`;
      return messages.find((message) => message.includes(place)) ?? '';
    });
  });

  it.each(mistakes.map(([call, says], index) => ({ call, says, index })))(
    '$call',
    ({ says, index }) => {
      expect(said[index]).toMatch(says);
    },
  );
});
