import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../../src/cli/command.js';
import { buildProgram } from '../../../src/cli/program.js';
import { Machine } from '../../support/cli.js';
import { httpServer, writtenBy } from '../../support/raw-server.js';

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;

beforeAll(async () => {
  server = await httpServer((request, response) => response.end(writtenBy(request)));
  const values = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'a1'];
  const own = ['--app-secret-env', 'SECRET'];
  await machine.run([
    'profile',
    'add',
    'shop-test',
    ...values,
    ...own,
    '--base-url',
    'http://127.0.0.1:9',
  ]);
  const at = ['--base-url', server.url, '--environment', 'production'];
  await machine.run(['profile', 'add', 'shop', ...values, ...own, ...at]);
});

beforeEach(() => {
  server.requests.length = 0;
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const env = { SECRET: 'never-to-be-seen-4711' };
const write = ['passback', 'a=x', '--union-id', 'u1'];

describe('production', () => {
  it.each(['--dry-run', '--print-curl'])(
    'is not asked about for a preview: %s',
    async (preview) => {
      expect((await machine.run(['-p', 'shop', ...write, preview], { env })).status).toBe(0);
      expect(server.requests).toHaveLength(0);
    },
  );

  it('is written to with --yes', async () => {
    expect((await machine.run(['-p', 'shop', ...write, '--yes'], { env })).status).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['y', 0, 1],
    ['n', 2, 0],
    ['', 2, 0],
  ])(
    'asks on a terminal: "%s" ends with status %i, %i requests',
    async (answer, status, requests) => {
      const done = await machine.onTerminal(['-p', 'shop', ...write], [['in production', answer]], {
        env,
      });
      expect(done.status).toBe(status);
      expect(server.requests).toHaveLength(requests);
    },
  );

  it('is not asked about where nobody would see it: stderr is a file', async () => {
    const line = `SECRET=${env.SECRET} userinfo -p shop ${write.join(' ')} 2> asked; echo ended-$?`;
    const { stdout } = await machine.inBash([line]);
    expect(stdout).toContain('ended-2');
    expect(readFileSync(join(machine.folder, 'asked'), 'utf8')).toContain(
      'there is no terminal to ask on',
    );
    expect(server.requests).toHaveLength(0);
  });
});

describe('a write to production without confirmation', () => {
  it("is not sent at the end of the terminal's input", async () => {
    const args = ['-p', 'shop', 'passback', '--user-info', '-', '--union-id', 'u1'];
    const json = '{"a":"x"}';
    const done = await machine.onTerminal(
      args,
      [
        ['', json],
        [json, '\u0004'],
      ],
      { env },
    );
    expect(done).toMatchObject({ status: 2, stdout: expect.stringContaining('Add --yes') });
    expect(server.requests).toHaveLength(0);
  });

  it('is not sent if the prompt is interrupted', async () => {
    const done = await machine.onTerminal(['-p', 'shop', ...write], [['in production', null]], {
      env,
    });
    expect(done.status).toBe(130);
    expect(server.requests).toHaveLength(0);
  });
});

describe('an open prompt', () => {
  it('keeps the announced target, even if the profiles change meanwhile', async () => {
    const other = await httpServer((_, response) => response.end());
    await machine.run(['profile', 'use', 'shop']);
    const stdout = new PassThrough();
    const io = { stdin: new PassThrough(), stdout, stderr: new PassThrough() };
    const context = createContext(
      { ...io, env: { ...env, USERINFO_CONFIG_DIR: machine.configFolder } },
      new AbortController().signal,
      write,
    );
    const prompt = {
      ...context.prompt,
      possible: true,
      async confirm() {
        await machine.run(['profile', 'use', 'shop-test']);
        await machine.run(['profile', 'set', 'shop', '--base-url', other.url, '--app-key', 'a2']);
        return true;
      },
    };
    const program = await buildProgram({ ...context, prompt }, write);
    await program.parseAsync(write, { from: 'user' });
    await other.close();
    await machine.run(['profile', 'set', 'shop', '--base-url', server.url, '--app-key', 'a1']);
    expect(other.requests).toHaveLength(0);
    expect(server.requests.map(({ query }) => new URLSearchParams(query).get('app_key'))).toEqual([
      'a1',
    ]);
  });
});

describe('the prefix of custom keys', () => {
  it('is warned about if it is missing', async () => {
    await machine.run(['profile', 'set', 'shop', '--key-prefix', 'acme_']);
    const pairs = ['passback', 'acme_a=1', 'mobile=2', 'other=3', '--union-id', 'u1', '--yes'];
    const done = await machine.run(['-p', 'shop', ...pairs], { env });
    expect(done.status).toBe(0);
    expect(done.stderr.match(/warning:.*/g)).toEqual([
      'warning: key "other" does not begin with the prefix "acme_" of the profile',
    ]);
  });
});
