import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { CredentialError } from '../../../src/core/profiles/errors.js';
import { readSecret } from '../../../src/core/profiles/secret-source.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { rejection } from '../../support/rejection.js';
import { secretText, temporaryFolder } from './fixtures.js';

const env = { PATH: process.env.PATH, SHOP_SECRET: ` ${secretText}\n`, EMPTY: '' };
const variable = (name: string) => readSecret({ kind: 'environment', name }, env);
/** Runs JavaScript in a node of its own, through the shell as any command. */
const command = (script: string) =>
  readSecret({ kind: 'command', command: `"${process.execPath}" -e "${script}"` }, env);

describe('readSecret', () => {
  it('takes the secret of the file and of a variable exactly as it is', async () => {
    const value = new Secret(' s ');
    expect(await readSecret({ kind: 'file', value }, env)).toBe(value);
    expect((await variable('SHOP_SECRET')).reveal()).toBe(` ${secretText}\n`);
  });

  it.each([
    ['ABSENT', 'ABSENT, which should hold the app secret, is not set'],
    ['EMPTY', 'EMPTY, which should hold the app secret, is empty'],
  ])('names the variable %s', async (name, message) => {
    const error = await rejection(variable(name));
    expect(error).toBeInstanceOf(CredentialError);
    expect(error.message).toContain(message);
  });

  it.each([
    ["process.stdout.write('a b')", 'a b'],
    ["process.stdout.write(' a \\n')", ' a '],
    ["process.stdout.write('a\\r\\n')", 'a'],
    ["process.stdout.write('a\\n\\n')", 'a\n'],
    ["process.stdout.write('\\ufeffa')", '\ufeffa'],
    ['process.stdout.write(process.env.SHOP_SECRET.trim())', secretText],
  ])(
    'takes what a command prints, without the line break at its end: %s',
    async (script, secret) => {
      expect((await command(script)).reveal()).toBe(secret);
    },
  );

  it.each([
    [`process.stdout.write('${secretText}'); process.exit(7)`, 'ended with exit status 7'],
    ['0', 'printed nothing'],
    ['process.stdout.write(Buffer.from([255, 254]))', 'not UTF-8'],
    [
      `process.stdout.on('error', () => {}).write('${secretText}'.repeat(9999))`,
      'printed more than 64 KiB',
    ],
  ])('reports how a command failed, not what it printed: %s', async (script, message) => {
    const error = await rejection(command(script));
    expect(error).toBeInstanceOf(CredentialError);
    expect(error.message).toMatch(message);
    expect(inspect(error, { depth: null })).not.toContain(secretText);
  });

  const page = readFileSync(join(import.meta.dirname, '../../../docs/profiles.md'), 'utf8');
  const documented = [...page.matchAll(/--app-secret-command '([^']+)'/g)].map(
    ([, command = '']) => command,
  );

  it.skipIf(process.platform === 'win32').each([
    ['secret-tool', '"lookup service "?*" account "?*'],
    ['security', '"find-generic-password -s "?*" -a "?*" -w"'],
    ['pass', '"show "?*'],
    ['op', '"read op://"?*/?*/?*'],
  ])(
    'gets the secret from %s by the command that docs/profiles.md gives (needs POSIX)',
    async (tool, shape) => {
      const bin = temporaryFolder();
      writeFileSync(
        join(bin, tool),
        `#!/bin/sh\ncase "$*" in ${shape}) echo '${secretText}';; *) exit 1;; esac\n`,
      );
      chmodSync(join(bin, tool), 0o700);
      const command = documented.find((text) => text.startsWith(`${tool} `)) ?? '';
      const withTool = { PATH: `${bin}:${process.env.PATH}` };
      const secret = await readSecret({ kind: 'command', command }, withTool);
      expect(secret.reveal()).toBe(secretText);
    },
  );

  it('reports a command that does not exist by its exit status', async () => {
    const error = await rejection(
      readSecret({ kind: 'command', command: 'no-such-command-here 2>&-' }, env),
    );
    expect(error.message).toMatch(/ended with exit status \d+/);
  });

  it.skipIf(process.platform === 'win32')(
    'reports a command that is killed by its signal (needs POSIX)',
    async () => {
      const error = await rejection(readSecret({ kind: 'command', command: 'kill -9 $$' }, env));
      expect(error.message).toContain('was killed by SIGKILL');
    },
  );

  it.skipIf(process.platform === 'win32')(
    'stops a command that takes too long, and does not wait for what it has started (needs POSIX)',
    async () => {
      const file = join(temporaryFolder(), 'pid');
      const started = `sleep 60 2>&- & echo $! > '${file}'; echo $$ > '${file}.shell'; wait`;
      const source = { kind: 'command', command: started } as const;
      const error = await rejection(readSecret(source, env, { timeoutMs: 2_000 }));
      expect(error.message).toContain('took longer than 2 s and was stopped');
      const shell = Number(readFileSync(`${file}.shell`, 'utf8'));
      await vi.waitFor(() => expect(() => process.kill(shell, 0)).toThrow('ESRCH'), 30_000);
      // It has our pipe open, and is still at work.
      process.kill(Number(readFileSync(file, 'utf8')));
    },
  );

  it.skipIf(process.platform === 'win32')(
    'ends with the command, not with a process that it leaves behind with its output',
    async () => {
      const file = join(temporaryFolder(), 'alive');
      const loop = `until [ -e ${file}.stop ]; do touch ${file}; sleep 0.05; done; touch ${file}.stopped`;
      const command = `(${loop}; echo late) & echo ${secretText}`;
      expect((await readSecret({ kind: 'command', command }, env)).reveal()).toBe(secretText);
      // It is not stopped, either: it could be an agent.
      rmSync(file, { force: true });
      await expect.poll(() => existsSync(file)).toBe(true);
      writeFileSync(`${file}.stop`, '');
      await expect.poll(() => existsSync(`${file}.stopped`)).toBe(true);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'reads all that a command printed before it ended',
    async () => {
      const source = {
        kind: 'command',
        command: 'sleep 1 & head -c 65536 /dev/zero | tr "\\0" x',
      } as const;
      expect((await readSecret(source, env)).reveal()).toBe('x'.repeat(65_536));
    },
  );

  it('gives a command no standard input', async () => {
    expect(
      (
        await command("process.stdin.on('data', () => {}).on('end', () => console.log('done'))")
      ).reveal(),
    ).toBe('done');
  });
});
