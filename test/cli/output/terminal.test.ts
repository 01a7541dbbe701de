import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { outputFormats } from '../../../src/cli/command-line/options.js';
import { httpServer } from '../../support/raw-server.js';
import { ServedMachine } from '../../support/served.js';

/**
 * Sets the title, starts sequences with ESC and C1, rings, goes back, deletes, turns the direction,
 * breaks lines.
 */
const hostile = 'a\u001b]0;title\u0007b\u009b31mc\u0085\b\u007fd\u202ee\u2066f\u2028g\rh\u001b[8mi';
/** The same for a name of a file or an argument. */
const name = 'n\u001b[31m\u009bm\u202e';
/** What acts on a terminal, once its line ends (and no colours) are taken out. */
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;

let machine: ServedMachine;
let code: string;

beforeAll(async () => {
  machine = await ServedMachine.create();
  const user = {
    tenant_code: 'acme',
    union_id: 'u001',
    basic_info: { mobile: hostile },
    extension_info: { acme_x: hostile, [`acme_${hostile}`]: 'x' },
  };
  await machine.admin(['user', 'put', '-'], JSON.stringify(user));
  code = await machine.issueCode('--uses', 'unlimited');
  for (const file of [name, 'rows.csv']) {
    writeFileSync(join(machine.folder, file), `union_id,acme_level\nu001,gold\n"${name}",gold\n`);
  }
});

afterAll(() => machine[Symbol.asyncDispose]());

/** What a terminal is given where nobody answers, without what draws the line of progress. */
async function shown(args: readonly string[]): Promise<string> {
  const done = await machine.run(['--no-input', ...args], { env: { NO_COLOR: '1' }, shows: true });
  return withoutBar(done.stdout);
}

const withoutBar = (text: string) => text.replaceAll(/\r(?=[█░\u001b])|\u001b\[K/g, '');

const database = () => ['--database', machine.database];

const commands: readonly (readonly [what: string, args: () => readonly string[]])[] = [
  ...outputFormats.flatMap((format) => [
    [`read -o ${format}`, () => ['read', code, '-o', format]] as const,
    [`read --query -o ${format}`, () => ['read', code, '-o', format, '--query', 'data']] as const,
  ]),
  ['read --query of a text', () => ['read', code, '--query', 'data.extension_info.acme_x']],
  ['read --verbose', () => ['read', code, '--verbose']],
  ['a name that did not come', () => ['read', code, name]],
  [
    '--print-curl',
    () => ['passback', `k=${hostile}`, '--union-id', name, '--print-curl', '--reveal'],
  ],
  [
    '--dry-run',
    () => ['passback', `k=${hostile}`, '--union-id', name, '--dry-run', '--reveal', '--json'],
  ],
  [
    'sign explain --json',
    () => ['sign', 'explain', 'passback', `k=${hostile}`, '--union-id', 'u', '--json'],
  ],
  [
    'admin user show --json',
    () => [
      ...'admin user export --tenant-code acme --union-id u001 --json'.split(' '),
      ...database(),
    ],
  ],
  ['admin user list', () => ['admin', 'user', 'list', '--tenant-code', 'acme', ...database()]],
  [
    'admin user delete',
    () => [
      ...'admin user delete --tenant-code acme --union-id'.split(' '),
      name,
      '--yes',
      ...database(),
    ],
  ],
  ['a run', () => ['bulk', 'passback', name, '--failed', `${name}.f`, '--json']],
  ['an unknown option', () => ['read', `--${name}`]],
  ['an unknown command', () => [name]],
  ['a wrong value', () => ['read', 'c', '-o', name]],
  ['an unknown profile', () => ['-p', name, 'read', 'c']],
];

describe('no control character reaches a terminal from', () => {
  it.each(commands)('%s', async (_, args) => {
    const text = await shown(args());
    expect(text).not.toBe('');
    expect(text.search(acting) < 0 ? '' : JSON.stringify(text)).toBe('');
  });

  it.each([
    ['read', () => ['read', code]],
    ['a run', () => ['bulk', 'passback', name, '--failed', `${name}.f`, '--restart', '--yes']],
    ['an error', () => ['-p', name, 'read', 'c']],
  ])('%s, on a terminal of its own', async (_, args) => {
    const done = await machine.onTerminal(args(), [], { env: { NO_COLOR: '1' } });
    const text = withoutBar(done.stdout.replaceAll('\r\n', '\n'));
    expect(text).toContain('\\u001b');
    expect(text).not.toMatch(acting);
  });

  it('the results of a stream', async () => {
    const { stdout } = await machine.inBash(['NO_COLOR=1 userinfo bulk passback - < rows.csv']);
    expect(stdout).toContain('"n\\u001b[31m\\u009bm\\u202e"');
    expect(stdout).not.toMatch(/[\u009b\u202e]/);
  });

  it('JSON with carriage returns between its tokens, which stays JSON', async () => {
    const body = `{"code":200,\r"msg":"ok",\r\n"data":{"union_id":"u001","x":"\u009b"}}`;
    const server = await httpServer((_, response) => response.end(body));
    const text = await shown(['read', 'c', '--json', '--base-url', server.url]);
    await server.close();
    expect(text).not.toMatch(acting);
    expect(JSON.parse(text)).toEqual(JSON.parse(body));
  });
});

describe('a pipe gets', () => {
  it('JSON byte for byte', async () => {
    const body = `{"code":200,\r"msg":"ok","data":{"union_id":"u001","x":"\u009b\u202e\u007f"}}`;
    const server = await httpServer((_, response) => response.end(body));
    const done = await machine.run(['read', 'c', '--json', '--base-url', server.url]);
    await server.close();
    expect(done.stdout).toBe(`${body}\n`);
  });

  it('CSV exactly', async () => {
    const done = await machine.run([
      'read',
      code,
      ...'acme_x -o csv --query [data.acme_x]'.split(' '),
    ]);
    expect(done.stdout).toBe(`"${hostile}"\n`);
  });

  it('YAML without a character that YAML does not allow', async () => {
    const done = await machine.run(['read', code, 'acme_x', '-o', 'yaml']);
    expect(done.stdout).not.toMatch(acting);
    expect(parseYaml(done.stdout).data.acme_x).toBe(hostile);
  });
});
