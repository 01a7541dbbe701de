import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';

const machine = new Machine();
beforeEach(() => rmSync(path('PWN'), { force: true }));
afterAll(() => machine[Symbol.dispose]());

const path = (name: string) => join(machine.folder, name);
/** Pastes a text into a shell. */
const paste = (line: string) =>
  execFileSync('sh', ['-c', line], { cwd: machine.folder, encoding: 'utf8', stdio: 'pipe' });
const values = [
  '--base-url',
  'https://h.example',
  '--tenant-code',
  't',
  '--channel',
  'c',
  '--app-key',
  'k',
];

const hostile = [
  '$(touch PWN)',
  '`touch PWN`',
  '"; touch PWN; "',
  "'; touch PWN; '",
  'a\n touch PWN\n',
  '-rf ~ &',
];

describe.skipIf(process.platform === 'win32')('a hint that is pasted into a shell', () => {
  it.each(hostile)('restricts the folder %j, and does nothing else', async (name) => {
    const folder = path(name);
    const env = { USERINFO_CONFIG_DIR: folder };
    await machine.run(['profile', 'add', 'p', ...values, '--app-secret-command', 'exit 7'], {
      env,
    });
    chmodSync(folder, 0o777);
    const { status, stderr } = await machine.run(['read', 'c1'], { env });
    expect(status).toBe(3);
    paste(stderr.replace(/.*Restrict it:\n/s, ''));
    expect(existsSync(path('PWN'))).toBe(false);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect((await machine.run(['read', 'c1'], { env })).stderr).toContain(
      'ended with exit status 7',
    );
  });

  it.each(hostile)('gives the key %j as one word', async (name) => {
    const { status, stderr } = await machine.run(
      ['passback', '--union-id', 'u1', ...values, '--', `${name}:=nonsense`],
      { env: { USERINFO_APP_SECRET: 's' } },
    );
    expect(status).toBe(2);
    expect(paste(`printf %s ${stderr.replace(/.*for plain text write /s, '')}`)).toBe(
      `${name}=text`,
    );
    expect(existsSync(path('PWN'))).toBe(false);
  });

  it.each(hostile)('gives the column %j as one word', async (name) => {
    mkdirSync(path('csv'), { recursive: true });
    writeFileSync(path('csv/rows.csv'), `"${name.replaceAll('"', '""')}"\n1.38E+10\n`);
    const { status, stderr } = await machine.run(
      ['bulk', 'passback', 'csv/rows.csv', `--primary-key=${name}`, ...values],
      { env: { USERINFO_APP_SECRET: 's' } },
    );
    expect(status).toBe(2);
    const types = / --types (.*)$/s.exec(stderr)?.[1];
    expect(paste(`printf %s ${types}`)).toBe(`${name}:text`);
    expect(existsSync(path('PWN'))).toBe(false);
  });
});
