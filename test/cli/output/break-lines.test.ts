import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, describe, expect, it } from 'vitest';
import { breakCommand, breakText } from '../../../src/cli/output/break-lines.js';
import { Machine } from '../../support/cli.js';

const machine = new Machine();
afterAll(() => machine[Symbol.dispose]());

const words = [
  'passback',
  '--from',
  'my users of 2026.csv',
  '--types',
  'a:number,b:boolean,c:text',
  "it's",
  '$(touch PWN)',
  '用户 标识.csv',
  '--resume',
];
const command = words
  .map((word) => (/^[\w:,.-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
  .join(' ');

describe('a command that is too long for a terminal', () => {
  it.each([20, 40, 80, 120])('is the same when it is pasted from %i columns', (columns) => {
    const lines = breakCommand(command, columns);
    const pasted = execFileSync('sh', ['-c', `printf '%s\\0' ${lines.join('\n')}`], { encoding: 'utf8' });
    expect(pasted.split('\0').slice(0, -1)).toEqual(words);
    // A word that is longer than the line is whole, on a line of its own.
    for (const line of lines) {
      const bare = line.replace(/ \\$/, '').trim();
      expect([line, stringWidth(line) <= columns || command.split(bare).length === 2]).toEqual([line, true]);
    }
    expect(lines.length === 1).toBe(stringWidth(command) <= columns);
    expect(lines.slice(0, -1).every((line) => line.endsWith(' \\'))).toBe(true);
  });
});

it.each([30, 80])('prose is broken between words, in %i columns', (columns) => {
  const text = 'Signed with the secret of profile "shop", by the default recipes. 然后 See what is signed.';
  const lines = breakText(`    ${text}`, columns).split('\n');
  expect(lines.every((line) => line.startsWith('    ') && stringWidth(line) <= columns)).toBe(true);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(text);
  // A line is broken only where the next word does not fit.
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const [next = ''] = (lines[index + 1] ?? '').trim().split(' ');
    expect([line, stringWidth(`${line} ${next}`) > columns]).toEqual([line, true]);
  }
});

it.runIf(process.platform !== 'win32')('the program breaks them so on a terminal of 60 columns', async () => {
  writeFileSync(join(machine.folder, 'a name with spaces.csv'), 'union_id;a\nu;b\n');
  const command =
    "userinfo passback --from 'a name with spaces.csv' --base-url https://h.example --tenant-code t --channel c --app-key k";
  const { stdout } = await machine.inBash(['stty cols 60', 'export USERINFO_APP_SECRET=s', command]);
  const [, printed = ''] = /Name the delimiter:\r?\n {2}((?:.*\\\r?\n)+.*)\r?\n/.exec(stdout) ?? [];
  const lines = printed.split(/\r?\n/);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
  expect(lines.map((line) => line.replace(/\\$/, '').trim()).join(' ')).toBe(`${command} --delimiter ';'`);
});
