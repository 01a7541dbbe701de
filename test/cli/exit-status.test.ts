import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitStatusOf, statusOfCode } from '../../src/cli/exit-status.js';
import { Machine } from '../support/cli.js';

/** The classes of errors in `src`, each with the codes that its text names. */
function errorClasses(): Map<string, readonly string[]> {
  const folder = join(import.meta.dirname, '..', '..', 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const found = new Map<string, readonly string[]>();
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, name = '', parent = '', body = ''] of text.matchAll(
      /class (\w+) extends (\w+) \{(.*?)^\}$/gms,
    )) {
      if (parent !== 'Error' && !parent.endsWith('Error')) continue;
      const [, type] = /readonly code: (\w+);/.exec(body) ?? [];
      const union = type && new RegExp(`type ${type} = ([^;]+);`).exec(text)?.[1];
      const own = /^ {2}readonly code = '.+'|\bcode = '.+'\) \{/m.exec(body)?.[0];
      found.set(
        name,
        [...`${own ?? union ?? ''}`.matchAll(/'([A-Z_]+)'/g)].map(([, code = '']) => code),
      );
      const isWrapped = body.includes('this.code = cause.code;');
      if (parent === 'UserInfoError' && !isWrapped && !text.includes(`abstract class ${name}`))
        expect([name, found.get(name)]).not.toEqual([name, []]);
    }
  }
  return found;
}

it('every error has an exit status, and no status is for an error that is gone', () => {
  // Codes of Node's kind stay inside: the client makes errors of its own of them.
  const codes = [...errorClasses().values()].flat().filter((code) => !code.startsWith('ERR_'));
  expect(codes).toContain('OLD_SCHEMA');
  expect(codes).toContain('CHECK_FAILED');
  expect([...new Set(codes)].sort()).toEqual(Object.keys(statusOfCode).sort());
});

it('an interruption has the status of one, and what nobody knows that of a bug', () => {
  const interrupted = [
    AbortSignal.abort().reason,
    Object.assign(new Error('x'), { name: 'ExitPromptError' }),
  ];
  expect(interrupted.map(exitStatusOf)).toEqual([130, 130]);
  const unknown = ['x', new Error('x'), Object.assign(new Error('x'), { code: 'toString' })];
  expect(unknown.map(exitStatusOf)).toEqual([1, 1, 1]);
});

it('a database that cannot answer is no bug and no bad input: exit status 5, and what to do', async () => {
  using machine = new Machine();
  const admin = (...args: string[]) =>
    machine.run(['admin', ...args, '--database', machine.database]);
  const app = ['--tenant-code', 'acme', '--channel', 'web', '--app-key'];
  expect((await admin('app', 'create', ...app, 'k1')).status).toBe(0);
  const lock = `import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute('BEGIN EXCLUSIVE')
print('locked', flush=True)
sys.stdin.read()`;
  const other = spawn('python3', ['-c', lock, machine.database], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => other.once('close', resolve));
  await new Promise((resolve) => other.stdout.once('data', resolve));
  const [plain, json] = await Promise.all([
    admin('app', 'create', ...app, 'k2'),
    admin('app', 'create', ...app, 'k3', '--json'),
  ]);
  other.stdin.end();
  await ended;
  expect(plain).toMatchObject({
    status: 5,
    stdout: '',
    stderr: 'error: the database is locked by another process\nWait for that process, or end it.\n',
  });
  expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'STORE_UNAVAILABLE', exit: 5 });
  expect((await admin('app', 'list', '--json')).stdout.trimEnd().split('\n')).toHaveLength(1);
});

it('an error outside of every command is reported, too, with status 1', () => {
  const script = `Object.defineProperty(process, 'stdin', { get() { throw new Error('no standard input') } });
    require('../../dist/cli/main.cjs').main(process)`;
  const child = spawnSync(process.execPath, ['-e', script], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  expect(child.status).toBe(1);
  expect(child.stderr).toMatch(/^error: no standard input\nThis is a bug in userinfo: .+\n$/);
});
