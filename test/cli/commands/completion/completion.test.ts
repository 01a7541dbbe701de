import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../../../src/cli/command.js';
import { outputFormats } from '../../../../src/cli/command-line/options.js';
import {
  type CommandNode,
  candidates,
} from '../../../../src/cli/commands/completion/candidates.js';
import { completionTable } from '../../../../src/cli/commands/completion/table.late.js';
import { helpTopics } from '../../../../src/cli/commands/help/index.js';
import { buildProgram } from '../../../../src/cli/program.js';
import { specialInfoNames } from '../../../../src/core/contract/info-names.js';
import { resultCodes } from '../../../../src/core/contract/result-codes.js';
import { Machine } from '../../../support/cli.js';

const machine = new Machine();
const secret = 'never-to-be-seen-4711';
const { signal } = new AbortController();
const { stdin, stdout, stderr } = process;
const context = createContext({ stdin, stdout, stderr, env: {} }, signal, []);
const table = completionTable(await buildProgram(context, []));

beforeAll(async () => {
  const options =
    '--base-url http://127.0.0.1:9 --tenant-code acme --channel web --app-key a --app-secret-stdin';
  for (const name of ['shop', 'shop-test', '店铺'])
    await machine.run(['profile', 'add', name, ...options.split(' ')], { stdin: secret });
  writeFileSync(`${machine.folder}/users one.ndjson`, '');
});
afterAll(() => machine[Symbol.dispose]());

/** What begins with `typed` in a list that grows. */
const startingWith = (typed: string, list: readonly (string | number)[]) =>
  list.map(String).filter((one) => one.startsWith(typed));
const infoNames = Object.keys(specialInfoNames());
const optionsOf = (command = table) => Object.keys({ ...command.options, ...table.options });

const offered: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [['pas'], ['passback']],
  [
    ['profile', ''],
    ['add', 'list', 'show', 'use', 'set', 'rename', 'delete', 'export', 'import', 'path'],
  ],
  [['admin', 'code', 'i'], ['issue']],
  [['profile', 'rename', 'shop-'], ['shop-test']],
  [['profile', 'add', 'sh'], []],
  [['-p', 'shop-'], ['shop-test']],
  [['-p', 'shop', '--json', 'rea'], ['read']],
  [['read', 'c', '-o', 'y'], ['yaml']],
  [['read', '--env'], startingWith('--env', optionsOf(table.commands.read))],
  [['read', '--environment', 'p'], ['production']],
  [['read', '--dry-run', 'c', 'mob'], startingWith('mob', infoNames)],
  [['read', 'c', 'id_card,mob'], startingWith('mob', infoNames).map((name) => `id_card,${name}`)],
  [['read', 'c', 'id_card', 'device'], startingWith('device', infoNames)],
  [['read', ''], []],
  [['read', '--', '--env'], []],
  [['admin', 'code', 'issue', '--names', 'chat_s'], startingWith('chat_s', infoNames)],
  [['bulk', 'read', 'x', 'chat_s'], startingWith('chat_s', infoNames)],
  [['sign', 'explain', 're'], ['read']],
  [['explain', '4290'], startingWith('4290', resultCodes)],
  [
    ['help', 'ex'],
    startingWith('ex', [...Object.keys(helpTopics), ...Object.keys(table.commands)]),
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [
    ['profile', 'add', 'x', '--app-secret-e'],
    startingWith('--app-secret-e', optionsOf(table.commands.profile?.commands.add)),
  ],
];

/**
 * What a shell makes of: a word that is not ASCII, none, an option that it splits, names of files.
 */
const offeredByBash: typeof offered = [
  [
    ['profile', 'use', ''],
    ['shop', 'shop-test', '店铺'],
  ],
  [['profile', 'rename', 'shop', ''], []],
  [['--profile', '=', 'shop-'], ['shop-test']],
  [['--output', '=', ''], [...outputFormats]],
  [['admin', 'user', 'put', 'users'], ['users one.ndjson']],
  [['serve', '--database', 'users'], ['users one.ndjson']],
];

it.each(offered)('after %j the words are offered that may follow', async (words, offered) => {
  const { stdout } = await machine.run(['__complete', ...words]);
  expect(stdout.replace(/\t.*/g, '').split('\n').slice(0, -1)).toEqual(offered);
});

describe('bash', () => {
  it('is offered words, files, and what follows an option with "="', async () => {
    const asked = offeredByBash.map(([words]) =>
      ['offer', 'userinfo', ...words].map((word) => `'${word}'`).join(' '),
    );
    const done = await machine.shell(
      `source <(userinfo completion bash)
       offer() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _userinfo; printf '%s\\t' "\${COMPREPLY[@]}"; echo; }
       ${asked.join('\n')}`,
      {},
      'bash',
    );
    expect(done).toMatchObject({ status: 0, stderr: '' });
    const lines = done.stdout.split('\n').map((line) => line.split('\t').filter(Boolean));
    expect(offeredByBash.map(([words], index) => [words, lines[index]])).toEqual(offeredByBash);
  });

  it('completes the typed prefix', async () => {
    const lines = [
      'source <(userinfo completion bash)',
      'userinfo prof\tuse shop-\t',
      'userinfo --output=js\tprofile li\t',
    ];
    const { status, stdout } = await machine.inBash(lines);
    expect(status).toBe(0);
    expect(stdout).toContain('now using "shop-test"');
    expect(stdout).toContain('[{"name":"shop"');
  });
});

describe.each([
  [
    'zsh',
    `autoload -Uz compinit; compinit -u; source <(userinfo completion zsh)
    _describe() { print -rl -- "\${(@P)2}"; }
    offer() { words=("$@"); CURRENT=$#; _userinfo; }`,
  ],
  [
    'fish',
    `userinfo completion fish | source
    function offer; complete -C (string join ' ' -- $argv); end`,
  ],
] as const)('%s', (shell, setUp) => {
  const isThere = spawnSync(shell, ['-c', 'true']).error === undefined;
  it.skipIf(!isThere)(`is offered them, too (needs ${shell})`, async () => {
    const script = `${setUp}\noffer userinfo profile use ''\noffer userinfo --output=j\noffer userinfo read c id_card,mob\noffer userinfo pas`;
    const { stdout, stderr } = await machine.shell(script, {}, shell);
    expect(stderr).toBe('');
    const words = stdout.split('\n').map((line) => line.split(/[\t:]/)[0]);
    expect(words.slice(0, -1)).toEqual([
      ...['shop', 'shop-test', '店铺'],
      '--output=json',
      ...startingWith('mob', infoNames).map((name) => `id_card,${name}`),
      'passback',
    ]);
  });
});

it('an unknown shell is refused', async () => {
  expect(await machine.run(['completion', 'tcsh'])).toMatchObject({ status: 2, stdout: '' });
});

it('the table is that of the program: every command and option is offered, and none that is hidden', () => {
  expect(JSON.parse(readFileSync('dist/cli/completion.json', 'utf8'))).toEqual(table);
  const check = (node: CommandNode, path: readonly string[]) => {
    const offer = (typed: string) =>
      candidates(table, [...path, typed], {}).map((line) => line.split('\t')[0]);
    expect(offer('')).toEqual(expect.arrayContaining(Object.keys(node.commands)));
    expect(offer('-')).toEqual(expect.arrayContaining(Object.keys(node.options)));
    expect(offer('-')).not.toContain('--app-secret');
    for (const [name, inner] of Object.entries(node.commands)) check(inner, [...path, name]);
  };
  check(table, []);
});

describe('the names of the profiles', () => {
  it('are printed, and nothing else of the profiles', async () => {
    const { stdout } = await machine.run(['__complete', '-p', '']);
    expect(stdout).toBe('shop\nshop-test\n店铺\n');
  });

  it('are left out if a shell could execute them', async () => {
    const { profiles } = JSON.parse(readFileSync(machine.profileFile, 'utf8'));
    const folder = `${machine.folder}/other`;
    mkdirSync(folder);
    writeFileSync(
      `${folder}/profiles.json`,
      JSON.stringify({ profiles: { '$(id)': profiles.shop, 'a b': {}, ok: {} } }),
    );
    const env = { USERINFO_CONFIG_DIR: folder };
    expect((await machine.run(['__complete', '-p', ''], { env })).stdout).toBe('ok\n');
    writeFileSync(`${folder}/profiles.json`, '{"profiles":');
    expect(await machine.run(['__complete', '-p', ''], { env })).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });
});

it('never shows the secret', () => {
  expect(machine.printed).not.toContain(secret);
});
