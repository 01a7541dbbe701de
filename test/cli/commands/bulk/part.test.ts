import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { partNumber } from '../../../../src/cli/commands/bulk/source/part.js';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
/** The users and values, or the codes, that the platform was asked for, in their order. */
const asked: string[] = [];

beforeAll(async () => {
  server = await httpServer(({ body, query }, response) => {
    const parameters = new URLSearchParams(body || query);
    const user = parameters.get('union_id');
    asked.push(
      user === null
        ? (parameters.get('code') ?? '')
        : `${user} ${JSON.parse(parameters.get('user_info') ?? '').v}`,
    );
    const code = user === 'nobody' ? 40401 : 200;
    const answer = JSON.stringify({ code, msg: 'm', data: { union_id: user ?? 'u1' } });
    setTimeout(() => response.end(answer), 5);
  });
  const values = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'local', ...values, '--app-secret-env', 'SECRET']);
});

afterEach(() => {
  asked.length = 0;
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const env = { SECRET: 's3cret' };
const write = (name: string, text: string) => writeFileSync(join(machine.folder, name), text);

/** The lines of the results of a part that are whole. */
function linesOf(name: string): number[] {
  const path = join(machine.folder, `${name}.results.ndjson`);
  if (!existsSync(path)) return [];
  const results = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return results.map((line) => JSON.parse(line).line);
}

it.each([
  ['u001', [2, 4, 4, 32]],
  ['张三', [1, 1, 6, 121]],
  ['13800138000', [2, 4, 4, 368]],
])('%s is in the same part on every machine, in every version', (text, parts) => {
  // Of Python: int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], 'big') % n + 1
  expect([2, 4, 7, 1000].map((count) => partNumber(text, count))).toEqual(parts);
});

describe('four processes that divide a file', () => {
  it('send each row once and the rows of a user in order, though one is killed and resumed', async () => {
    const users = Array.from({ length: 160 }, (_, i) => `u${i}`);
    const rows = ['1', '2'].flatMap((value) => users.map((user) => `${user},${value}`));
    write('rows.csv', `union_id,v\n${rows.join('\n')}\n`);
    const argsOf = (part: number) => [
      ...['-p', 'local', 'bulk', 'passback', 'rows.csv', '--part', `${part}/4`],
      ...['--concurrency', '4', '--rate', '60/s'],
    ];
    const runs = [1, 2, 3, 4].map((part) => {
      const run = machine.start(argsOf(part), { env });
      const ended = new Promise<number | null>((resolve) => run.once('exit', resolve));
      return { run, ended };
    });
    const killed = runs[1]?.run;
    while (linesOf('rows.csv.2-of-4').length < 10) await wait(5);
    killed?.kill('SIGKILL');
    const statuses = await Promise.all(runs.map(({ ended }) => ended));
    expect(statuses).toEqual([0, null, 0, 0]);
    expect(linesOf('rows.csv.2-of-4').length).toBeLessThan(60);
    const before = asked.length;
    expect(await machine.run([...argsOf(2), '--resume'], { env })).toMatchObject({ status: 0 });

    const lines = [1, 2, 3, 4].map((part) => linesOf(`rows.csv.${part}-of-4`));
    const all = lines.flat().sort((one, other) => one - other);
    expect(all).toEqual(rows.map((_, index) => index + 2));
    for (const [index, own] of lines.entries()) {
      expect(own.length).toBeGreaterThan(0);
      expect(new Set(own.map((line) => partNumber(users[(line - 2) % 160] ?? '', 4)))).toEqual(
        new Set([index + 1]),
      );
    }
    for (const user of users) {
      const values = asked.filter((one) => one.startsWith(`${user} `));
      const changes = values.filter((value, index) => value !== values[index - 1]);
      expect(changes).toEqual([`${user} 1`, `${user} 2`]);
    }
    // What was under way when it was killed is sent again, and nothing else.
    expect(asked.length - rows.length).toBeLessThanOrEqual(4);
    expect(asked.length).toBeGreaterThan(before);
  });

  it('read each code once', async () => {
    const codes = Array.from({ length: 40 }, (_, i) => `c${i}`);
    write('codes.csv', `code\n${codes.join('\n')}\n`);
    for (const part of ['1/3', '2/3', '3/3']) {
      const done = await machine.run(['-p', 'local', 'bulk', 'read', 'codes.csv', '--part', part], {
        env,
      });
      expect(done.status).toBe(0);
    }
    expect(asked.toSorted()).toEqual(codes.toSorted());
  });
});

describe('a part', () => {
  const passBack = (...args: string[]) =>
    machine.run(['-p', 'local', 'bulk', 'passback', ...args], { env });

  it('is not resumed as another one', async () => {
    write('more.csv', 'union_id,v\nu1,1\nu2,2\nu3,3\nu4,4\n');
    const files = ['--results', 'more.results'];
    expect(await passBack('more.csv', ...files, '--part', '1/2')).toMatchObject({ status: 0 });
    for (const [more, now] of [
      [['--part', '2/2'], '"2/2"'],
      [['--part', '1/3'], '"1/3"'],
      [[], 'not given'],
    ] as const) {
      const refused = await passBack('more.csv', ...files, ...more, '--resume');
      const stderr = expect.stringContaining(`was begun with another part: "1/2", now ${now}`);
      expect(refused).toMatchObject({ status: 2, stderr });
    }
    for (const part of ['0/2', '3/2', '2', '1/10000'])
      expect(await passBack('more.csv', '--part', part)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('Write it as 2/4'),
      });
  });

  it('may have no row', async () => {
    write('one.csv', 'union_id,v\nu001,1\n');
    expect(await passBack('one.csv', '--part', '1/2')).toMatchObject({ status: 0 });
    expect(asked).toEqual([]);
    expect(await passBack('one.csv', '--part', '2/2')).toMatchObject({ status: 0 });
    expect(asked).toEqual(['u001 1']);
  });

  it('has rows without a user as the first one, and its own file of rows to retry', async () => {
    write('bad.csv', 'union_id,v\nnobody,1\n,2\n');
    const own = partNumber('nobody', 2);
    for (const part of [1, 2]) {
      const done = await passBack('bad.csv', '--part', `${part}/2`, '--no-preflight');
      expect(done.status).toBe(part === own || part === 1 ? 6 : 0);
      if (part !== own) continue;
      const [, collect = ''] = /^ {2}userinfo (.*)$/m.exec(done.stderr) ?? [];
      expect(collect).toContain(
        `--part ${part}/2 --no-preflight --failed bad.${part}-of-2.failed.csv`,
      );
      const collected = await machine.run(collect.split(' '), { env });
      expect(collected.stderr).toContain(
        `\n  userinfo -p local bulk passback bad.${part}-of-2.failed.csv --no-preflight\n`,
      );
    }
    const invalid = linesOf('bad.csv.1-of-2').includes(3);
    expect([invalid, linesOf('bad.csv.2-of-2').includes(3)]).toEqual([true, false]);
  });
});
