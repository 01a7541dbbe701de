import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DependentOption } from '../../../src/cli/command-line/help-layout.js';
import { outputFormats } from '../../../src/cli/command-line/options.js';
import { commands, program } from '../../support/help-texts.js';
import { firstUser, ServedMachine } from '../../support/served.js';

const commandOf = (words: readonly string[]) =>
  words.reduce((group, name) => {
    const command = group.commands.find((subcommand) => subcommand.name() === name);
    if (command === undefined) throw new Error(`there is no command ${words.join(' ')}`);
    return command;
  }, program);

/** The commands whose help lists the options of the output. */
const printing = commands.filter((words) => {
  const command = commandOf(words);
  const shared = command.createHelp().visibleGlobalOptions(command);
  return shared.some(({ long }) => long === '--query');
});

let machine: ServedMachine;
let code: string;

beforeAll(async () => {
  machine = await ServedMachine.create();
  code = await machine.issueCode('--uses', 'unlimited');
  machine.file('codes.ndjson', `${JSON.stringify({ code })}\n`);
  machine.file('users.csv', 'union_id,acme_level\nu001,gold\n');
  machine.file('user.ndjson', `${JSON.stringify(firstUser)}\n`);
  const args = ['read', code, '--print-curl', '--reveal', '-p', 'local'];
  machine.file('request.txt', (await machine.run(args)).stdout);
});
afterAll(() => machine[Symbol.asyncDispose]());

describe('a bulk run over a stream', () => {
  const stream = () => ({ stdin: `${JSON.stringify({ code })}\n` });

  it.each(['--query ok', '--mask', ...outputFormats.map((format) => `-o ${format}`)])(
    'prints its outcomes as NDJSON, or refuses %s',
    async (option) => {
      const done = await machine.run(
        ['bulk', 'read', '-', '--format', 'ndjson', ...option.split(' ')],
        stream(),
      );
      if (option.endsWith('json')) {
        expect(done.status).toBe(0);
        expect(JSON.parse(done.stdout)).toMatchObject({ line: 1, outcome: 'ok' });
        return;
      }
      expect(done).toMatchObject({ status: 2, stdout: '' });
      const flags = option.replace(' ok', '');
      expect(done.stderr).toContain(`${flags} has no effect on the outcomes of a stream: NDJSON`);
    },
  );

  it('prints its summary where --results has the outcomes', async () => {
    const args = ['bulk', 'read', '-', '--format', 'ndjson', '--results', 'stream.ndjson'];
    const done = await machine.run([...args, '--json'], stream());
    expect(JSON.parse(done.stdout)).toMatchObject({ ok: 1, results: 'stream.ndjson' });
  });
});

const masterKey = Buffer.alloc(32).toString('base64');
const mobile = '13800138000';
const user = '--tenant-code acme --union-id u001';
const captured = '--sample request.txt';

/** Arguments with which each command prints data, in this order. `CODE` is a code of the user. */
const prints: Readonly<Record<string, string>> = {
  read: 'CODE mobile',
  passback: 'acme_level=gold --union-id u001',
  'bulk passback': 'users.csv --dry-run',
  'bulk read': 'codes.ndjson',
  'profile list': '',
  'profile show': '',
  'profile path': '',
  'profile export': 'local',
  doctor: '',
  'sign explain': captured,
  'sign explain read': 'CODE',
  'sign explain passback': 'acme_level=gold --union-id u001',
  'sign verify': captured,
  'sign solve': captured,
  'sign try': '--rate 1000/s',
  'sign presets': '',
  probe: '--pause 1ms',
  explain: '',
  'admin app create': '--tenant-code acme --channel app --app-key app-1',
  'admin app list': '',
  'admin app rotate-secret': '--app-key app-1 --overlap 1h',
  'admin app encrypt-secrets': '',
  'admin code issue': user,
  'admin code list': '--tenant-code acme',
  'admin user put': 'user.ndjson',
  'admin user show': user,
  'admin user find': '--tenant-code acme --key mobile',
  'admin user list': '--tenant-code acme',
  'admin user digest': user,
  'admin user delete': user,
  'admin audit': '',
  'admin migrate': '',
};

describe('--output and --query', () => {
  it('are options of the commands that print data', () => {
    expect(new Set(printing.map((words) => words.join(' ')))).toEqual(new Set(Object.keys(prints)));
  });

  it.each(Object.entries(prints))('apply to what %s %s prints', async (words, args) => {
    const given = args.replace('CODE', code).split(' ').filter(Boolean);
    const done = await machine.run(
      [...words.split(' '), ...given, '--yes', '-o', 'json', '--query', '{printed: `1`}'],
      {
        env: { USERINFO_DATABASE: machine.database, USERINFO_MASTER_KEY: masterKey },
        stdin: mobile,
      },
    );
    expect(done).toMatchObject({ stdout: '{"printed":1}\n' });
  });
});

/** The options of each command, with those of its group. */
const options = commands.flatMap((words) => {
  const command = commandOf(words);
  const own = [...command.options, ...(command.parent?.options ?? [])];
  return own.map((option) => ({ words: words.join(' '), option }));
});

describe('an option that has an effect only with another', () => {
  it('says so in its description, and is declared so', () => {
    const undeclared = options.filter(
      ({ option }) =>
        /^with --/.test(option.description) &&
        !(option instanceof DependentOption && option.needs.length > 0),
    );
    expect(undeclared).toEqual([]);
  });

  it.each(
    options.flatMap(({ words, option }) =>
      option instanceof DependentOption && option.needs.length > 0
        ? [{ words, option, flag: option.long ?? '' }]
        : [],
    ),
  )('is refused without it: $words $flag', async ({ words, option, flag }) => {
    const value = option.isBoolean() ? [] : [option.argChoices?.[0] ?? 'x'];
    const args = (prints[words] ?? '').replace('CODE', code).replace('--dry-run', '').split(' ');
    const done = await machine.run([...words.split(' '), ...args.filter(Boolean), flag, ...value]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain(`${flag} has an effect only with ${option.needs.join(' or ')}\n`);
  });
});

it.each(['read CODE --dry-run', 'read CODE --print-curl', 'bulk read codes.ndjson --dry-run'])(
  '%s refuses --mask with --reveal',
  async (line) => {
    const args = line.replace('CODE', code).split(' ');
    const done = await machine.run([...args, '--mask', '--reveal']);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain('--reveal shows what --mask hides: use one of them');
  },
);
