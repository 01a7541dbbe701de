import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

/** Changes the input while its first row is being sent. */
let onFirst: () => void = () => {};
const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;

beforeAll(async () => {
  server = await httpServer(({ body }, response, count) => {
    if (count === 1) onFirst();
    const user = new URLSearchParams(body).get('union_id') ?? '';
    const code = Number(user.slice(1)) % 10 === 0 ? 40401 : 200;
    response.end(JSON.stringify({ code, msg: 'm', data: { union_id: user } }));
  });
  const values = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'local', ...values, '--app-secret-env', 'SECRET']);
});

afterEach(() => {
  server.requests.length = 0;
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const path = (name: string) => join(machine.folder, name);
const rowCount = 300;
/** Digits hardly compress: a packed file has several blocks, too. */
const filler = (i: number, mark: string) =>
  mark +
  Array.from({ length: 240 }, (_, j) =>
    Math.sin(i * 1000 + j)
      .toFixed(8)
      .slice(-8),
  ).join('');
const rows = (mark: string) =>
  Array.from({ length: rowCount }, (_, i) => `u${i},${filler(i, mark)}\n`);
const header = 'union_id,v\n';
const content = header + rows('checked').join('');

const passBack = (name: string, ...args: string[]) =>
  machine.run(['-p', 'local', 'bulk', 'passback', name, '--concurrency', '4', ...args], {
    env: { SECRET: 's3cret' },
  });

const valuesSent = () =>
  server.requests.map(
    ({ body }) => JSON.parse(new URLSearchParams(body).get('user_info') ?? '{}').v as string,
  );

const endOf = (name: string) =>
  readFileSync(path(`${name}.userinfo-journal`), 'utf8')
    .trimEnd()
    .split('\n')
    .at(-1);

describe('an input that is changed while it is sent stops the run', () => {
  const half = Math.floor(content.length / 2);
  it.each<[string, string, Buffer, Buffer]>([
    [
      'rewritten in its second half',
      'rewritten.csv',
      Buffer.from(content),
      Buffer.from(content.slice(0, half) + content.slice(half).replaceAll('checked', 'strange')),
    ],
    ['a row behind', 'grown.csv', Buffer.from(content), Buffer.from(`${content}u900,strange\n`)],
    [
      'rewritten, packed',
      'packed.csv.gz',
      gzipSync(content),
      gzipSync(content.slice(0, half) + content.slice(half).replaceAll('checked', 'strange')),
    ],
  ])(
    '%s: what was not checked is not sent, and the failed rows are the right ones',
    async (_, name, before, after) => {
      writeFileSync(path(name), before);
      onFirst = () => writeFileSync(path(name), after);
      const done = await passBack(name, '--failed', `${name}.failed`);
      expect(done.status).toBe(6);
      expect(done.stderr).toContain(
        `error: "${name}" was changed after it was checked: what changed was not sent\n`,
      );
      expect(done.stderr).toMatch(
        / To send all rows of the new one:\n {2}userinfo .* bulk passback \S+ .*--restart\n/,
      );
      expect(valuesSent().filter((value) => !value.startsWith('checked'))).toEqual([]);
      expect(server.requests.length).toBeGreaterThan(0);
      expect(endOf(name)).toContain('"finished":false');
      if (existsSync(path(`${name}.failed`))) {
        const failed = readFileSync(path(`${name}.failed`), 'utf8')
          .trimEnd()
          .split('\n')
          .slice(1);
        for (const row of failed) expect(row).toMatch(/^40401 m,u\d*0,checked/);
      } else expect(done.stderr).toContain('\nfailed   not written\n');

      const resumed = await passBack(name, '--resume');
      expect(resumed.stderr).toContain('with another input file');
      expect(resumed.status).toBe(2);
      // As it was, it can be resumed, and no row is sent twice.
      writeFileSync(path(name), before);
      expect((await passBack(name, '--resume')).status).toBe(6);
      expect(endOf(name)).toContain('"finished":true');
      const sent = server.requests.map(({ body }) => new URLSearchParams(body).get('union_id'));
      expect(sent).toHaveLength(rowCount);
      expect(new Set(sent).size).toBe(rowCount);
    },
  );
});
