import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const closingLines = [' Test Files  3 passed (3)', '      Tests  9 passed (9)', '   Duration  1.00s'];
let folder: string;

// Instead of npm and git: notes what it was called with, and fails where $FAILING says so. As node, it installs nothing.
const program = `#!/bin/sh
step="$(basename "$0") $*"
case $step in 'git status'*) [ ! -e steps ] || cat changed 2>/dev/null; exit;; node*) exit 1;; esac
echo "$step" >> steps
if [ "$step" = 'npm test' ]; then printf '%s\\n' 'ok test/a.test.ts' '${closingLines.join("' '")}'; fi
[ "$step" != "$FAILING" ] || exit 7
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'userinfo-ci-'));
  for (const file of ['.ci/run', 'README.md'])
    cpSync(join(import.meta.dirname, '..', file), join(folder, file));
  mkdirSync(join(folder, 'bin'));
  for (const name of ['npm', 'git', 'node']) {
    writeFileSync(join(folder, 'bin', name), program);
    chmodSync(join(folder, 'bin', name), 0o700);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(failing = '') {
  const steps = join(folder, 'steps');
  rmSync(steps, { force: true });
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, FAILING: failing };
  const { status, stdout } = spawnSync('bash', [join(folder, '.ci/run')], { env, encoding: 'utf8' });
  const ran = existsSync(steps) ? readFileSync(steps, 'utf8').trimEnd().split('\n') : [];
  return { status, lines: stdout.trimEnd().split('\n'), ran };
}

describe.skipIf(process.platform === 'win32')('.ci/run (needs POSIX)', () => {
  it('runs its steps, and ends with their times and the closing lines of the test runner', () => {
    const { status, lines, ran } = run();
    expect(status).toBe(0);
    expect(lines.slice(-3)).toEqual(closingLines);
    const passed = lines.at(-4)?.replace(/ \d+ s/g, '');
    expect(passed).toBe(
      'passed: install and demo, lint, layers, types, world, package, docs, tests, clean tree',
    );
    // The first step is two commands of the README.
    expect(ran.slice(0, 2)).toEqual(['npm ci', 'npm run demo']);
    expect(passed?.split(',')).toHaveLength(ran.length);
  });

  it('fails if a step has written what is not in git', () => {
    writeFileSync(join(folder, 'changed'), '?? docs/new.md\n');
    const { status, lines } = run();
    rmSync(join(folder, 'changed'));
    expect(status).toBe(1);
    expect(lines).toContain('?? docs/new.md');
  });

  it('fails at each step that fails, names it, and runs none after it', () => {
    const { ran: all, lines } = run();
    const steps = lines.flatMap((line) => (line.startsWith('== ') ? [line.slice(3)] : []));
    const names = [steps[0], ...steps];
    for (const [at, failing] of all.entries()) {
      const { status, lines, ran } = run(failing);
      expect([failing, status, ran]).toEqual([failing, 7, all.slice(0, at + 1)]);
      const said = lines.find((line) => line.startsWith('failed: '));
      expect(said).toMatch(new RegExp(`^failed: ${names[at]}, \\d+ s \\(exit status 7\\)$`));
      if (failing === 'npm test') expect(lines.slice(-3)).toEqual(closingLines);
      else expect(lines.at(-1)).toMatch(/^passed: /);
    }
  });
});
