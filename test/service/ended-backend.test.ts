import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createService } from '../../src/service/index.js';
import { deploymentVariables, Machine } from '../support/cli.js';
import { createSchema, type TestSchema } from '../support/postgres/test-schema.js';
import { type RunningService, runService, user } from '../support/running-service.js';

/** A message of PostgreSQL's protocol: type, length, content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const greeting = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
]);
const fatal = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

/** What the server does with a new connection, after its first message. */
const endings: Record<string, (client: Socket) => void> = {
  'is ready and ends the connection in one segment': (client) =>
    client.end(Buffer.concat([greeting, fatal])),
  'ends the connection before it is ready': (client) => client.end(fatal),
  'resets a ready connection': (client) => client.write(greeting, () => client.resetAndDestroy()),
  'closes a ready connection without a word': (client) => client.end(greeting),
  'resets the connection': (client) => client.resetAndDestroy(),
};

const unreadable: Record<string, Buffer> = {
  'asks for GSSAPI': message('R', Buffer.from([0, 0, 0, 7])),
  'sends a row that is none': Buffer.concat([greeting, Buffer.from('D\0\0\0\0')]),
};

const commands = [
  ['serve', ['serve', '--port', '0', '--database']],
  ['admin', ['admin', 'app', 'list', '--database']],
] as const;

let schema: TestSchema;
let proxy: string;
/** `null`: connections are passed on to PostgreSQL. */
let ending: ((client: Socket) => void) | null = null;
/** Each breaks what was passed on. */
let passed: Socket[] = [];
const server = createServer((client) => {
  client.on('error', () => {});
  if (ending !== null) {
    client.once('data', () => ending?.(client));
    return;
  }
  const { hostname, port } = new URL(schema.url);
  const database = connect(Number(port), hostname).on('error', () => {});
  client.pipe(database).pipe(client);
  passed.push(client);
  client.once('close', () => database.destroy());
});

beforeAll(async () => {
  schema = await createSchema();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(schema.url);
  url.port = String((server.address() as AddressInfo).port);
  proxy = url.href;
  await (await createService({ database: schema.url })).close();
});
beforeEach(() => {
  ending = null;
});
afterAll(async () => {
  server.close();
  await schema.remove();
});

describe.each(Object.entries(endings))('a database that %s', (_, end) => {
  it('ends no service that runs, nor one of the SDK', async () => {
    const running: RunningService = await runService({ database: proxy });
    await running.service.admin.putUser(user('u1'));
    const passback = async () =>
      (await running.passback({ union_id: 'u1', user_info: '{"a":"b"}' })).envelope.code;
    expect(await passback()).toBe(200);
    ending = end;
    for (const client of passed.splice(0)) client.destroy();
    const codes = await Promise.all(Array.from({ length: 20 }, passback));
    // What was sent before may have been broken off, and is done again on no other connection.
    expect(new Set(codes)).toEqual(new Set([50301]));
    ending = null;
    await expect.poll(passback).toBe(200);
    await running.service.close();
    passed = [];
  });

  it.each(commands)('is reported by %s', async (_, args) => {
    using machine = new Machine();
    ending = end;
    const ended = await machine.run([...args, proxy], {
      env: deploymentVariables('http://127.0.0.1:9'),
    });
    expect(ended.status).toBeGreaterThan(0);
    expect(ended.stderr).toMatch(/the (?:connection to the )?database/);
    expect(ended.stderr).not.toMatch(/ at .*:\d+|Unhandled|Node\.js/);
  });
});

// pg throws these where nobody can catch them.
describe.each(Object.entries(unreadable))('a database that %s', (_, answer) => {
  it.each(commands)('ends %s with one sentence', async (_, args) => {
    using machine = new Machine();
    machine.apart = true;
    ending = (client) => client.end(answer);
    const ended = await machine.run([...args, proxy]);
    const stderr = expect.stringMatching(/^error: .+\n.+\n$/);
    expect(ended).toMatchObject({ status: 1, stdout: '', stderr });
    const json = await machine.run([...args, proxy], { env: { USERINFO_OUTPUT: 'json' } });
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'INTERNAL', exit: 1 });
  });
});
