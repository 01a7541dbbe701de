import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/cli/context.js';
import { buildProgram, run } from '../../src/cli/program.js';
import { specialInfoNames } from '../../src/protocol/info-names.js';
import { specialUserInfoKeys } from '../../src/protocol/user-info.js';
import { printedBy } from '../support/cli.js';
import { firstUser, ServedMachine } from '../support/served.js';

const { signal } = new AbortController();
const { stdin, stdout, stderr } = process;
const program = await buildProgram(createContext({ stdin, stdout, stderr, env: {} }, signal, []), []);

function leaves(command: Command, path: readonly string[] = []): string[][] {
  const inner = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
  const isOne = inner.length === 0 || command.registeredArguments.length > 0;
  return [...(isOne ? [[...path]] : []), ...inner.flatMap((one) => leaves(one, [...path, one.name()]))];
}

function groupsIn(command: Command, path: readonly string[] = []): string[][] {
  const inner = command.commands.filter((one) => one.commands.length > 0);
  return [[...path], ...inner.flatMap((one) => groupsIn(one, [...path, one.name()]))];
}

const commands = leaves(program);
const groups = groupsIn(program);
let machine: ServedMachine;
const helps = new Map<string, string>();

beforeAll(async () => {
  machine = await ServedMachine.create();
  for (const command of [...commands, ...groups]) {
    const written = new PassThrough();
    expect(
      await run([...command, '--help'], { stdin, stdout: written, stderr: written, env: {} }, signal),
    ).toBe(0);
    helps.set(command.join(' '), String(written.read()));
  }
});

afterAll(() => machine[Symbol.asyncDispose]());

const examplesIn = (help: string) =>
  [...help.matchAll(/^ {2}\$ ((?:.*\\\n)*.*)$/gm)].map(([, line]) => (line ?? '').replace(/ \\\n +/g, ' '));

describe('the help of', () => {
  it('lists every command', () => {
    expect(commands.map((command) => command.join(' '))).toEqual(
      expect.arrayContaining(['read', 'passback', 'profile add', 'admin code issue', 'serve', 'demo']),
    );
  });

  it.each([...commands, ...groups].map((command) => [command.join(' ')]))(
    '%s has at most 60 lines of 80 columns, and two examples',
    (name) => {
      const help = helps.get(name) ?? '';
      expect(examplesIn(help).length).toBeGreaterThanOrEqual(2);
      const lines = help.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(60);
      expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([]);
    },
  );

  it('the program lists commands, topics and the common options', () => {
    const help = helps.get('') ?? '';
    for (const part of ['Options:', 'Commands:', 'Topics (userinfo help <topic>):', 'Examples:']) {
      expect(help).toContain(`\n${part}\n`);
    }
  });

  it('a command names the common options that apply to it', () => {
    expect(helps.get('profile list')).not.toContain('--timeout');
    expect(helps.get('profile delete')).toContain('-y/--yes');
    expect(helps.get('read')).toContain('--timeout, --attempts');
    expect(helps.get('serve')).not.toContain('--query');
  });
});

it('of read and passback lists the special names and the reserved keys', () => {
  for (const name of Object.keys(specialInfoNames)) expect(helps.get('read')).toMatch(`\n  ${name} `);
  for (const key of Object.keys(specialUserInfoKeys)) expect(helps.get('passback')).toMatch(`\n  ${key} `);
  expect(helps.get('passback')).toMatch('Reserved keys, which cannot be passed back: union_id, channel.');
});

/** In the order in which a newcomer would come to need them; what deletes comes last. */
const story = [
  'migrate',
  'admin app create',
  'admin app list',
  'admin user put',
  'admin user find',
  'admin user show',
  'admin user list',
  'admin code issue',
  'admin code list',
  'admin code revoke',
  'passback',
  'read',
  'demo',
  'explain',
  'doctor',
  'openapi',
  'completion',
  'sign explain read',
  'sign explain passback',
  'sign explain',
  'sign verify',
  'sign solve',
  'sign presets',
  'sign vectors export',
  'sign vectors verify',
  'profile path',
  'profile add',
  'profile list',
  'profile show',
  'profile use',
  'profile set',
  'profile export',
  'profile import',
  'profile rename',
  'profile delete',
  'admin app rotate-secret',
  'admin app retire-secret',
  'admin app set',
  'admin app encrypt-secrets',
  'admin app disable',
  'admin app enable',
  'admin audit',
  'admin app delete',
  'admin user delete',
];

/** These need PostgreSQL: they have tests of their own, in test/cli/queue. */
const overQueue = [
  'worker',
  ...['list', 'show', 'results', 'retry', 'cancel', 'delete'].map((name) => `runs ${name}`),
];

/** These ask questions, or lock the database for the others: they have tests of their own. */
const interactive = [
  'userinfo profile add shop',
  'userinfo profile import shop-test.json',
  'userinfo profile delete shop-test',
  'userinfo admin app delete --app-key app-1',
  'userinfo admin user delete --tenant-code acme --union-id u001',
  'USERINFO_MASTER_KEY_FILE=master.key userinfo admin app encrypt-secrets',
  'USERINFO_MASTER_KEY_FILE=new-and-old.key userinfo admin app encrypt-secrets',
];

describe('the examples', () => {
  it('are all run by the next test, except those of serve and of a queue', () => {
    expect(new Set([...story, ...overQueue, 'serve'])).toEqual(
      new Set(commands.map((command) => command.join(' '))),
    );
  });

  it('work when pasted', { timeout: 240_000 }, async () => {
    const env = { XDG_DATA_HOME: `${machine.folder}/data`, SHOP_SECRET: 'never-to-be-seen-4711' };
    const paste = async (line: string) => {
      const { status, stderr } = await machine.shell(line, { env });
      expect(status, `${line}\n${stderr}`).toBe(0);
    };
    // What the examples take for granted: an app and a user in f.db too, a service on the default database.
    const app = '--tenant-code acme --channel web --app-key app-1';
    await paste(`userinfo admin app create ${app} --database f.db`);
    const putFirstUser = `echo '${JSON.stringify(firstUser)}' | userinfo admin user put`;
    await paste(`${putFirstUser} --database f.db`);
    await paste('userinfo profile delete local --yes'); // of another service: it would not be overwritten
    const service = machine.start(['serve', '--port', '0'], { env });
    const [, url = ''] = await printedBy(service, /listening on (http:\S+)/);
    try {
      for (const name of story) {
        for (const line of examplesIn(helps.get(name) ?? '')) {
          if (interactive.includes(line) || line.includes('--queue')) continue;
          await paste(line);
          if (name === 'admin app create') await paste(`userinfo profile set local --base-url ${url}`);
          if (name === 'profile path') await paste('userinfo profile use local');
        }
        if (name === 'admin user put') await paste(putFirstUser); // with the mobile number that others name
        if (name === 'profile add') {
          await paste(
            'userinfo profile add shop --base-url https://example.com --tenant-code acme --channel web --app-key a --app-secret-env S',
          );
        }
      }
    } finally {
      service.kill();
    }
  });

  it('of serve start the service', { timeout: 60_000 }, async () => {
    for (const line of examplesIn(helps.get('serve') ?? '')) {
      if (line.includes('postgres://')) continue; // needs that server; several-processes.test.ts has one
      // A free port: others may hold the one that the example leaves to the default.
      const service = machine.start([...line.split(' ').slice(1), '--port', '0'], {
        env: { XDG_DATA_HOME: `${machine.folder}/data` },
      });
      await printedBy(service, /listening on http:/);
      const ended = new Promise((resolve) => service.once('exit', resolve));
      service.kill();
      expect(await ended).toBe(0);
    }
  });
});
