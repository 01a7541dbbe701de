import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { factsOf, outputFormats } from '../../../src/cli/command-line/options.js';
import { flood } from '../../support/bare-proxy.js';
import { deploymentFlags, Machine } from '../../support/cli.js';
import { httpServer, tcpServer } from '../../support/raw-server.js';

const machine = new Machine();
const secret = 'never-to-be-seen-4711';

beforeAll(async () => {
  const values = deploymentFlags('http://127.0.0.1:9');
  await machine.run(['profile', 'add', 'shop', ...values, '--app-secret-stdin'], { stdin: secret });
});

afterAll(() => machine[Symbol.dispose]());

const answer = (head: string, body: string) => (socket: Socket) =>
  socket.end(`HTTP/1.1 ${head}\r\nConnection: close\r\n\r\n${body}`);

describe('a command that gets no valid answer ends with status 5', () => {
  it.each<readonly [string, (socket: Socket) => void, string]>([
    ['a 429', answer('429 No\r\nRetry-After: 3600', '{"message":"busy"}'), 'Try again in 3600 s'],
    ['a 401', answer('401 No', '{"error_msg":"No API key found"}'), '"No API key found"'],
    ['a 403 of a gateway', answer('403 No', '{"message":"no"}'), 'may want a header'],
    ['a page with 404', answer('404 No', '<title>no</title>'), 'a proxy or another site'],
  ])('%s', async (_, talk, said) => {
    const server = await tcpServer(talk);
    const done = await machine.run(['read', 'c', '--base-url', server.url]);
    await server.close();
    expect(done).toMatchObject({ status: 5, stdout: '' });
    expect(done.stderr).toContain(new URL(server.url).host);
    expect(done.stderr.replaceAll('\n', ' ')).toContain(said);
    expect(done.stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
  });

  it.each([
    ['a refused connection', 'http://127.0.0.1:9', 'cannot connect to 127.0.0.1:9'],
    [
      'a host that is not known',
      'https://nowhere.invalid',
      'cannot resolve the host name of nowhere.invalid',
    ],
  ])('%s', async (_, url, said) => {
    const done = await machine.run(['read', 'c', '--base-url', url]);
    expect(done).toMatchObject({ status: 5, stdout: '', stderr: expect.stringContaining(said) });
  });

  it.each([
    ['passback a=x --union-id u1', 'Whether the request was carried out is not known.'],
    ...['read c', 'doctor'].map((line) => [
      line,
      'Whether the code was used is not known: if it is refused',
    ]),
  ])(
    'unless Ctrl-C ends %s, which reports whether it may have been carried out',
    async (line, doubt) => {
      const args = line.split(' ');
      let command: ChildProcess;
      const server = await tcpServer(() => command.kill('SIGINT'));
      command = machine.start([...args, '--base-url', server.url]);
      let stderr = '';
      command.stderr?.on('data', (chunk) => {
        stderr += chunk;
      });
      const [status] = await once(command, 'close');
      await server.close();
      expect([status, stderr]).toEqual([
        130,
        expect.stringMatching(new RegExp(`^interrupted\n${doubt}`)),
      ]);
    },
  );

  it.each([
    [['read', 'c'], 'is not known: if it is refused now, have a new one issued.'],
    [
      ['passback', 'a=x', '--union-id', 'u1'],
      'Whether the request was carried out is not known. Try again: writing the same values twice changes nothing.',
    ],
  ])('no answer, at the end of --timeout: %j', async (args, advice) => {
    const server = await tcpServer(() => {});
    const done = await machine.run([...args, '--base-url', server.url, '--timeout', '300ms']);
    await server.close();
    expect(done.status).toBe(5);
    expect(done.stderr).toContain('did not answer within 300 ms');
    expect(done.stderr.replaceAll('\n', ' ')).toContain(advice);
  });
});

// Python's module `resource` reports the use.
const isPosix = process.platform !== 'win32';

describe.runIf(isPosix)('an answer that is costly to read (needs POSIX)', () => {
  /** Runs a passback against a server; returns what it cost by the account of the kernel. */
  async function costOf(talk: (socket: Socket) => void) {
    const server = await tcpServer(talk);
    const there = ['--base-url', server.url, '--attempts', '1', '--timeout', '1s'];
    const { status, usage } = await machine.measure([
      ...'passback a=x --union-id u1'.split(' '),
      ...there,
    ]);
    await server.close();
    return { status, ...usage };
  }

  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const good = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';

  it('takes the CPU time of any other answer', async () => {
    const usual = await costOf(answer('200 OK', good));
    expect(usual.status).toBe(0);
    for (const status of ['101 x', '000 x']) {
      const { status: exit, userMs } = await costOf(answer(status, ''));
      expect(exit).toBe(5);
      expect(userMs).toBeLessThan(usual.userMs * 6);
    }
  });

  it('takes memory near what it may be long', async () => {
    const usual = await costOf(answer('200 OK', good));
    const smallest = '1\r\n \r\n'.repeat(10_000);
    const { status, maximumBytes } = await costOf((socket) => {
      socket.write(chunked);
      flood(socket, smallest);
    });
    expect(status).toBe(5);
    expect(maximumBytes - usual.maximumBytes).toBeLessThan(64 * 2 ** 20);
  });
});

describe.runIf(isPosix)('a large answer as a table (needs POSIX)', () => {
  it.each([
    ['a text of 1.5 MB', { text: 'x'.repeat(1.5e6) }, 'more characters; -o json prints everything'],
    [
      '50,000 keys',
      Object.fromEntries(Array.from({ length: 50_000 }, (_, key) => [`k${key}`, key])),
      'rows left out: 48,000; -o json prints everything',
    ],
  ])('%s is cut, with a note, and takes little memory', async (_, extension_info, note) => {
    const body = JSON.stringify({ code: 200, msg: 'ok', data: { union_id: 'u1', extension_info } });
    const server = await httpServer((_, response) => response.end(body));
    const read = ['read', 'c', '--base-url', server.url];
    const table = await machine.measure([...read, '-o', 'table']);
    const json = await machine.measure([...read, '--json']);
    await server.close();
    expect(table.status).toBe(0);
    expect(table.stdout).toContain(note);
    expect(table.usage.maximumBytes - json.usage.maximumBytes).toBeLessThan(70e6);
    expect(json.bytes.equals(Buffer.from(`${body}\n`))).toBe(true);
  });
});

describe('--json', () => {
  it('prints the envelope byte for byte, and one newline', async () => {
    const body =
      ' {"msg":"\\u006fk","code":200 ,\r\n"data":{"union_id":"u1","n":9007199254740993.0,"z":"\\/é","a":1,"a":2}}\n\n';
    const server = await httpServer((_, response) => response.end(body));
    const done = await machine.run(['read', 'c', '--base-url', server.url, '--json']);
    await server.close();
    expect(done.bytes.equals(Buffer.from(`${body}\n`))).toBe(true);
  });

  it.each([
    [4, '{"code":1,"msg":"\\u001b[2J"}', '{"code":1,"msg":"\\u001b[2J"}', 'code 1'],
    [
      5,
      `\n${'x'.repeat(9_000)}\n`,
      `{"body":"${'x'.repeat(8_192)}"}`,
      'answer has 9,000 characters)',
    ],
  ])('prints other answers too, with status %i', async (status, body, stdout, said) => {
    const server = await httpServer((_, response) => response.writeHead(500).end(body));
    const done = await machine.run(['read', 'c', '--base-url', server.url, '--json', '--verbose']);
    await server.close();
    expect(done).toMatchObject({
      status,
      stdout: `${stdout}\n`,
      stderr: expect.stringContaining(said),
    });
    expect(done.stderr).not.toContain('\u001b[2J');
  });

  it.each(outputFormats)('prints an answer that is no envelope with -o %s', async (format) => {
    const server = await httpServer((_, response) => response.end('<html>'));
    const done = await machine.run(['read', 'c', '--base-url', server.url, '-o', format]);
    await server.close();
    const isForProgram = format !== 'table' && !factsOf(format).isFlat;
    expect(done.status).toBe(5);
    expect(done.stdout).toMatch(isForProgram ? /^\{?"?body"?: ?"?<html>"?\}?\n$/ : /^$/);
    expect(done.stderr.startsWith('{"error":')).toBe(factsOf(format).errors === 'json');
  });

  it('prints bytes that are not UTF-8 in base64, unless they are masked', async () => {
    const bytes = Buffer.concat([Buffer.from('13800138000'), Buffer.from([0xff, 0xfe])]);
    const server = await httpServer((_, response) => response.end(bytes));
    const read = ['read', 'c', '--base-url', server.url, '--json', '--verbose'];
    const [shown, masked] = [await machine.run(read), await machine.run([...read, '--mask'])];
    await server.close();
    const body = bytes.toString('base64');
    expect(shown).toMatchObject({
      status: 5,
      stdout: `{"body":"${body}","body_encoding":"base64"}\n`,
    });
    expect(masked).toMatchObject({
      status: 5,
      stdout: '{"body":"****","body_encoding":"base64"}\n',
    });
    for (const { stderr } of [shown, masked]) {
      expect(stderr).toContain('<   … (13 bytes that are not UTF-8)');
      expect(stderr).not.toContain('13800138000');
    }
  });
});

describe('a command whose reader has exited', () => {
  it('ends quietly', async () => {
    const { stderr, status } = await machine.shell('userinfo profile list --json | true');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const { stdout } = await machine.shell(
      '{ userinfo --help; echo "status $?" >&2; } | head -n 1',
    );
    expect(stdout).toMatch(/^Usage/);
  });

  it.runIf(existsSync('/dev/full')).each(['--version', '--help', 'profile list -o csv', 'demo'])(
    '%s reports a full disk (needs /dev/full)',
    async (args) => {
      const done = await machine.shell(`userinfo ${args} > /dev/full`);
      expect(done.status).toBe(1);
      expect(done.stderr).toMatch(
        /^error: the output cannot be written: no space is left on the disk\nFree disk space/,
      );
    },
  );
});

it('never shows the secret', () => {
  expect(machine.printed).not.toBe('');
  expect(machine.printed).not.toContain(secret);
});
