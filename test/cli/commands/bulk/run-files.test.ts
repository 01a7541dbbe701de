import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { builtModule } from '../../../support/built-module.js';
import { deploymentFlags, type Finished, Machine } from '../../../support/cli.js';
import { lockRecord } from '../../../support/lock-record.js';
import { httpServer } from '../../../support/raw-server.js';

const isRoot = process.getuid?.() === 0;
const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
/** Answers wait for the first of them while there is one. */
let held: ServerResponse[] | null = null;
let onRequest: (count: number) => void = () => {};
/** Whether the platform asks to come back in an hour. */
let isLimited = false;

beforeAll(async () => {
  server = await httpServer(({ body, query }, response, count) => {
    onRequest(count);
    const asked = new URLSearchParams(body || query);
    const user = asked.get('union_id') ?? '';
    response.statusCode = 200;
    const code = isLimited ? 42901 : user.startsWith('no') ? 40401 : 200;
    if (isLimited) response.setHeader('retry-after', 3600);
    const sent = asked.get('code') ?? '';
    // Without a user nobody knows whether the read is carried out: its data stays in the results.
    const data = sent.startsWith('odd') ? { mobile: sent } : { union_id: user || 'u1' };
    const answer = () =>
      response.end(JSON.stringify({ code, msg: code === 200 ? 'ok' : 'm', data }));
    if (held === null) setTimeout(answer, 1);
    else held.push(Object.assign(response, { answer }));
  });
  const values = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'local', ...values, '--app-secret-env', 'SECRET']);
});

afterEach(() => {
  server.requests.length = 0;
  onRequest = () => {};
  held = null;
  isLimited = false;
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

function release(): void {
  const waiting = held ?? [];
  held = null;
  for (const response of waiting) (response as ServerResponse & { answer(): void }).answer();
}

const path = (name: string) => join(machine.folder, name);
const content = (name: string) => readFileSync(path(name), 'utf8');
const options = { env: { SECRET: 's3cret' } };
const args = (name: string, ...more: string[]) => [
  ...'-p local bulk passback'.split(' '),
  name,
  ...more,
];
const passBack = (name: string, ...more: string[]): Promise<Finished> =>
  machine.run(args(name, ...more), options);

/** A file of rows, of which the first `failing` are refused by the service. */
function writeRows(name: string, { count = 100, failing = 0 } = {}): string {
  const rows = Array.from({ length: count }, (_, i) => `${i < failing ? 'no' : 'u'}${i},x${i}\n`);
  writeFileSync(path(name), `union_id,v\n${rows.join('')}`);
  return name;
}

const linesOf = (name: string) =>
  content(`${name}.results.ndjson`)
    .trimEnd()
    .split('\n')
    .map((line): number => JSON.parse(line).line);

const leftBehind = () => readdirSync(machine.folder).filter((name) => /lock|draft/.test(name));

/** Starts a run whose answers do not come, until `release`. */
async function startHeld(name: string, ...more: string[]) {
  held = [];
  const ended = passBack(name, '--concurrency', '4', ...more);
  while (server.requests.length === 0) await wait(5);
  const lock = content(`${name}.userinfo-journal.userinfo-lock`);
  return { ended, pid: lock.split(' ')[0] };
}

describe('a run locks its files', () => {
  it.each<[string, string[]]>([
    ['--resume', ['--resume']],
    ['--restart', ['--restart']],
    ['a new run', []],
    ['other results', ['--results', 'other.results']],
  ])('%s beside it is refused, and nothing is sent or replaced', async (_, more) => {
    const name = writeRows('beside.csv');
    const failed = ['--failed', 'beside.failed.csv'];
    const { ended, pid } = await startHeld(name, ...failed);
    const journal = content('beside.csv.userinfo-journal');
    const asked = server.requests.length;
    const second = await passBack(name, ...failed, ...more);
    expect(second).toMatchObject({ status: 2, stdout: '' });
    expect(second.stderr).toMatch(
      new RegExp(`^error: another run uses .*held by process ${pid} on `, 'm'),
    );
    expect(second.stderr).toContain('add --resume');
    expect(server.requests).toHaveLength(asked);
    expect(content('beside.csv.userinfo-journal')).toBe(journal);
    release();
    expect((await ended).status).toBe(0);
    expect(linesOf(name)).toHaveLength(100);
    expect(server.requests).toHaveLength(100);
    expect(leftBehind()).toEqual([]);
  });

  it('a text in the place of a lock is refused by its name, and stays', async () => {
    const name = writeRows('noted.csv');
    const lock = `${name}.userinfo-journal.userinfo-lock`;
    writeFileSync(path(lock), 'notes of a user');
    for (const more of [[], ['--take-over']]) {
      const { status, stderr } = await passBack(name, ...more);
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: expect.stringMatching(
          /^error: \S+noted\.csv\.userinfo-journal\.userinfo-lock is not a lock of userinfo\nNothing was sent\. /m,
        ),
      });
    }
    expect(content(lock)).toBe('notes of a user');
    rmSync(path(lock));
  });

  it.runIf(isRoot).each(['results.ndjson', 'userinfo-journal'])(
    'root writes nothing to %s of another user (needs root)',
    async (kind) => {
      const name = writeRows('others.csv');
      const file = `${name}.${kind}`;
      expect((await passBack(name)).status).toBe(0);
      server.requests.length = 0;
      const written = content(file);
      chownSync(path(file), 65_534, 65_534);
      const { status, stderr } = await passBack(name);
      expect(status).toBe(2);
      expect(stderr).toContain(
        `"${file}" belongs to another user, who could read what is written\nNothing was sent. `,
      );
      expect(content(file)).toBe(written);
      expect(server.requests).toHaveLength(0);
      for (const one of ['results.ndjson', 'userinfo-journal']) rmSync(path(`${name}.${one}`));
    },
  );

  it('only one of two that resume it at the same time succeeds', async () => {
    for (let round = 0; round < 2; round += 1) {
      const name = writeRows(`twice${round}.csv`, { failing: 1 });
      await passBack(name, '--max-failures', '1', '--concurrency', '1');
      // As a run that was killed leaves it.
      const lock = path(`${name}.userinfo-journal.userinfo-lock`);
      writeFileSync(lock, lockRecord({ pid: 4194305, start: '1' }));
      server.requests.length = 0;
      held = [];
      let refused = 0;
      const resume = async () => {
        const { status } = await passBack(name, '--resume');
        if (status === 2) refused += 1;
        // The one that is left has waited for its first answers.
        if (refused === 2) release();
        return status;
      };
      const done = await Promise.all([resume(), resume(), resume()]);
      expect(done.sort()).toEqual([2, 2, 6]);
      expect(server.requests.length).toBeLessThanOrEqual(99);
      expect(linesOf(name).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 100 }, (_, i) => i + 2),
      );
    }
    expect(leftBehind()).toEqual([]);
  });

  it('and takes over the files of a killed one', async () => {
    const name = writeRows('killed.csv');
    held = [];
    const run = machine.start(args(name, '--failed', 'killed.failed.csv'), options);
    while (server.requests.length === 0) await wait(5);
    run.kill('SIGKILL');
    await new Promise((resolve) => run.once('exit', resolve));
    release();
    expect(leftBehind()).toHaveLength(3);
    const resumed = await passBack(name, '--resume', '--failed', 'killed.failed.csv');
    expect(resumed.status).toBe(0);
    expect(leftBehind()).toEqual([]);
  });
});

describe('an existing file that is not of a run is refused before the first row, and kept', () => {
  // `found-files` has those of other kinds.
  const kinds: Readonly<Record<string, (place: string) => void>> = {
    'link to a device': (place) => symlinkSync('/dev/null', place),
    ...(isRoot && { device: (place: string) => execFileSync('mknod', [place, 'c', '1', '3']) }),
  };
  const cases = ['--failed', '--results'].flatMap((option) =>
    Object.keys(kinds).map((kind) => [option, kind] as const),
  );
  it.each(cases)('%s names a %s', async (option, kind) => {
    const name = writeRows('kinds.csv', { failing: 1 });
    const place = path('there');
    rmSync(place, { recursive: true, force: true });
    kinds[kind]?.(place);
    const before = lstatSync(place);
    const refused = await passBack(name, option, 'there', '--restart');
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /error: "there" (already exists, and is not a regular file|cannot be written)/,
    );
    expect(server.requests).toHaveLength(0);
    expect(lstatSync(place)).toMatchObject({ ino: before.ino, mode: before.mode });
    expect(leftBehind()).toEqual([]);
  });

  it.each(['--failed', '--results'])('%s names a file that cannot be created', async (option) => {
    const name = writeRows('long.csv', { failing: 1 });
    const refused = await passBack(name, option, 'x'.repeat(300));
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain(`Name a file in another folder with ${option}.\n`);
    expect(server.requests).toHaveLength(0);
  });

  it('--failed of a stream names a file of another origin', async () => {
    const name = writeRows('foreign.csv', { failing: 2 });
    writeFileSync(path('precious.csv'), 'precious\n');
    const stdin = content(name);
    const ofStream = await machine.run(args('-', '--failed', 'precious.csv'), {
      ...options,
      stdin,
    });
    expect(ofStream.status).toBe(2);
    expect(ofStream.stderr).toContain(
      '"precious.csv" already exists, and is not what this run wrote there',
    );
    expect(server.requests).toHaveLength(0);
    expect(content('precious.csv')).toBe('precious\n');
  });

  it('--results of a stream names a file of another origin', async () => {
    const name = writeRows('finished.csv', { count: 3 });
    writeFileSync(path('precious.txt'), 'precious\n');
    const stdin = content(name);
    const ofStream = await machine.run(args('-', '--results', 'precious.txt'), {
      ...options,
      stdin,
    });
    expect(ofStream.stderr).toContain('"precious.txt" already exists');
    expect(ofStream.status).toBe(2);
    expect(server.requests).toHaveLength(0);
    expect(content('precious.txt')).toBe('precious\n');
  });
});

describe('the file of failed rows', () => {
  const failed = ['--failed', 'again.csv'];

  it('is replaced by the run that wrote it, unless it was edited', async () => {
    const name = writeRows('again-of.csv', { failing: 3 });
    expect((await passBack(name, ...failed)).status).toBe(6);
    const written = content('again.csv');
    expect(written).toBe(
      'userinfo_reason,union_id,v\n40401 m,no0,x0\n40401 m,no1,x1\n40401 m,no2,x2\n',
    );
    expect((await passBack(name, ...failed)).status).toBe(6);
    expect(content('again.csv')).toBe(written);
    // A new run that is stopped early still knows it.
    writeRows(name, { failing: 2 });
    await passBack(name, ...failed, '--max-failures', '1', '--concurrency', '1');
    expect((await passBack(name, ...failed, '--resume')).status).toBe(6);
    expect(content('again.csv')).toBe(
      'userinfo_reason,union_id,v\n40401 m,no0,x0\n40401 m,no1,x1\n',
    );

    server.requests.length = 0;
    writeFileSync(path('again.csv'), 'union_id,v\nno0,edited\n');
    expect((await passBack(name, ...failed)).status).toBe(2);
    expect(server.requests).toHaveLength(0);
    expect(content('again.csv')).toBe('union_id,v\nno0,edited\n');
    rmSync(path('again.csv'));
  });

  it('is removed if no row failed and the run wrote it', async () => {
    const name = writeRows('better.csv', { failing: 3 });
    await passBack(name, ...failed);
    expect(existsSync(path('again.csv'))).toBe(true);
    writeRows(name);
    expect((await passBack(name, ...failed)).status).toBe(0);
    expect(existsSync(path('again.csv'))).toBe(false);
  });

  it('does not replace a file created there during the run', async () => {
    const name = writeRows('meanwhile.csv', { failing: 3 });
    onRequest = (count) => {
      if (count === 20) writeFileSync(path('again.csv'), 'precious\n');
    };
    const done = await passBack(name, ...failed);
    expect(done.status).toBe(6);
    expect(done.stderr).toContain('failed   not written\n');
    expect(done.stderr).toContain('error: "again.csv" already exists');
    expect(content('again.csv')).toBe('precious\n');
    expect(leftBehind()).toEqual([]);
    rmSync(path('again.csv'));
    const resumed = await passBack(name, ...failed, '--resume');
    expect(resumed.stderr).toContain('failed   again.csv, 3 rows\n');
    rmSync(path('again.csv'));
  });
});

describe('files of a run', () => {
  it.runIf(isRoot)(
    'are refused where another user owns them, and could read them (needs root)',
    async () => {
      const file = path('theirs.ndjson');
      writeFileSync(file, '');
      chmodSync(file, 0o666);
      chmodSync(machine.folder, 0o755);
      const module = await builtModule(
        join(import.meta.dirname, '../../../../src/cli/commands/bulk/files/append-file.ts'),
      );
      const script = `import(process.argv[1])
      .then(({ AppendFile }) => AppendFile.find({ path: process.argv[2], option: '--results' }).keep({ size: 0, crc: 0 }))
      .catch((error) => console.log(error.message))`;
      // A number without a name, as containers have.
      const asOther = { uid: 54_321, gid: 54_321, encoding: 'utf8' } as const;
      const { stdout } = spawnSync(process.execPath, ['-e', script, module, file], asOther);
      chmodSync(machine.folder, 0o700);
      expect(stdout).toContain(
        'theirs.ndjson" belongs to another user, who could read what is written',
      );
    },
  );

  it('are readable by their owner alone, whatever their mode was before', async () => {
    const name = writeRows('modes.csv', { failing: 1 });
    const files = ['modes.csv.results.ndjson', 'modes.csv.userinfo-journal', 'modes.failed.csv'];
    const more = ['--failed', 'modes.failed.csv'];
    await passBack(name, ...more, '--max-failures', '1', '--concurrency', '1');
    for (const file of files) chmodSync(path(file), 0o644);
    await passBack(name, ...more, '--resume');
    for (const file of files)
      expect([file, statSync(path(file)).mode & 0o777]).toEqual([file, 0o600]);
    chmodSync(path('modes.csv.results.ndjson'), 0o666);
    await passBack(name, ...more);
    expect(statSync(path('modes.csv.results.ndjson')).mode & 0o777).toBe(0o600);
  });

  it.runIf(existsSync('/dev/full'))(
    'that go to a full disk as standard output end the run (needs /dev/full)',
    async () => {
      const name = writeRows('full.csv');
      const run = `userinfo ${args('-', '--concurrency', '4').join(' ')} < ${name} > /dev/full`;
      const done = await machine.shell(run, options);
      expect(done.status).toBe(6);
      expect(done.stderr).toMatch(
        /^lost {5}\d rows?, answered but not written\nerror: the results cannot be written: no space is left on the disk\nWrite them to a file with --results\.\n$/m,
      );
      expect(server.requests.length).toBeLessThan(20);
    },
  );

  it('end the run if the journal is removed meanwhile', async () => {
    const name = writeRows('no-journal.csv', { count: 200 });
    onRequest = (count) => {
      if (count === 60) rmSync(path(`${name}.userinfo-journal`));
    };
    const done = await passBack(name, '--rate', '200/s');
    expect(done.status).toBe(6);
    expect(done.stderr).toContain(`error: "${name}.userinfo-journal" was removed or replaced`);
    expect(server.requests.length).toBeLessThan(200);
    expect((await passBack(name, '--resume')).status).toBe(2);
  });

  it.each<[string, (results: string) => void, string]>([
    ['removed', (results) => rmSync(results), 'was removed or replaced'],
    [
      'replaced',
      (results) => {
        renameSync(results, `${results}.old`);
        writeFileSync(results, '');
      },
      'was removed or replaced',
    ],
    ['cut', (results) => truncateSync(results, 0), 'was cut'],
    ['written to', (results) => writeFileSync(results, 'x\n', { flag: 'a' }), 'was written to'],
  ])(
    'that others have %s meanwhile end the run, and are not called complete',
    async (kind, change, words) => {
      const name = writeRows(`${kind.replace(' ', '-')}.csv`, { count: 200 });
      const results = path(`${name}.results.ndjson`);
      onRequest = (count) => {
        if (count === 60) change(results);
      };
      const done = await passBack(name, '--rate', '200/s');
      expect(done.status).toBe(6);
      expect(done.stderr).toContain(`error: "${name}.results.ndjson" ${words} by another program`);
      expect(server.requests.length).toBeLessThan(200);
      expect(content(`${name}.userinfo-journal`)).not.toContain('"finished":true');

      // The rows whose lines are gone are not passed over in silence, and what others wrote is not
      // removed.
      const left = existsSync(results) ? readFileSync(results, 'utf8') : null;
      const resumed = await passBack(name, '--resume');
      const refused =
        kind === 'removed' ? 'are missing' : `is not what "${name}.userinfo-journal" says`;
      expect(resumed).toMatchObject({ status: 2, stderr: expect.stringContaining(refused) });
      expect(existsSync(results) ? readFileSync(results, 'utf8') : null).toBe(left);
    },
  );

  it('that others have removed from a run over a stream are not called complete', async () => {
    onRequest = () => rmSync(path('gone.ndjson'), { force: true });
    const stdin = content(writeRows('gone.csv'));
    const done = await machine.run(args('-', '--results', 'gone.ndjson'), { ...options, stdin });
    expect(done.status).toBe(6);
    expect(done.stderr).toContain(
      'error: "gone.ndjson" was removed or replaced by another program',
    );
  });
});

describe('the codes of a read', () => {
  const readCodes = (name: string, ...more: string[]) =>
    machine.run(['-p', 'local', 'bulk', 'read', name, 'mobile', ...more], options);

  it('are not sent again by the same command, but with --restart; other codes in the file are', async () => {
    writeFileSync(path('once.csv'), 'code\nc1\nc2\n');
    expect((await readCodes('once.csv')).status).toBe(0);
    const results = content('once.csv.results.ndjson');
    const again = await readCodes('once.csv');
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('is finished')]);
    expect([server.requests.length, content('once.csv.results.ndjson')]).toEqual([2, results]);
    expect((await readCodes('once.csv', '--restart')).status).toBe(0);
    writeFileSync(path('once.csv'), 'code\nc3\n');
    expect((await readCodes('once.csv')).status).toBe(0);
    expect(server.requests).toHaveLength(5);
  });

  it('that were refused for a limit are not used up: --resume sends them', async () => {
    writeFileSync(path('limited.csv'), 'code\nc1\nc2\nc3\n');
    isLimited = true;
    const stopped = await readCodes('limited.csv');
    expect(stopped).toMatchObject({ status: 5, stderr: expect.stringContaining('asks to wait') });
    isLimited = false;
    expect(await readCodes('limited.csv', '--resume')).toMatchObject({ status: 0 });
    const results = content('limited.csv.results.ndjson').trimEnd().split('\n');
    expect(results.map((line) => JSON.parse(line).outcome)).toEqual(['ok', 'ok', 'ok']);
  });

  it('are not sent by --resume without the journal that says which are used up', async () => {
    writeFileSync(path('lost.csv'), 'code\nc1\n');
    const done = await readCodes('lost.csv', '--resume');
    expect([done.status, done.stderr]).toEqual([2, expect.stringContaining('there is no journal')]);
    expect(server.requests).toEqual([]);
  });

  it('keep the data of unknown rows, however often the run is killed while it is resumed', async () => {
    writeFileSync(path('odd.csv'), 'code\nodd1\nodd2\nc1\nc2\nc3\nc4\nc5\nc6\n');
    expect((await readCodes('odd.csv', '--max-failures', '2', '--concurrency', '1')).status).toBe(
      6,
    );
    const results = () => content('odd.csv.results.ndjson').trimEnd().split('\n');
    const unknown = results();
    expect(unknown.map((line) => JSON.parse(line))).toMatchObject(
      ['odd1', 'odd2'].map((mobile) => ({ outcome: 'unknown', data: { mobile } })),
    );
    for (let kills = 0; kills < 2; kills += 1) {
      held = [];
      const before = server.requests.length;
      const resumed = machine.start(
        ['-p', 'local', 'bulk', 'read', 'odd.csv', 'mobile', '--resume', '--concurrency', '1'],
        options,
      );
      while (server.requests.length === before) await wait(5);
      resumed.kill('SIGKILL');
      await new Promise((resolve) => resumed.once('exit', resolve));
      release();
    }
    expect((await readCodes('odd.csv', '--resume')).status).toBe(6);
    expect(server.requests).toHaveLength(8);
    expect(results()).toEqual(expect.arrayContaining(unknown));
    const found = results().map((line) => JSON.parse(line));
    expect(found.map(({ line }) => line).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(found.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(4);
  });

  it('are warned of where one stands twice', async () => {
    writeFileSync(path('twice.csv'), 'code\nc1\nc2\nc1\n');
    const { stderr } = await readCodes('twice.csv', '--dry-run');
    expect(stderr).toContain(
      'in 1 row the code is that of an earlier row (line 4): a code works once',
    );
  });
});

describe.skipIf(process.platform === 'win32')(
  'a run whose reader has exited (needs a shell)',
  () => {
    const rows = 'code\nc1\nc2\nc3\nc4\n';
    const env = { SECRET: 's3cret' };

    it('goes on without messages', async () => {
      writeFileSync(path('unread.csv'), rows);
      const line =
        '{ userinfo -p local bulk read unread.csv mobile; echo $? > status; } 2>&1 | true';
      await machine.shell(line, { env });
      expect(content('status')).toBe('0\n');
      expect(linesOf('unread.csv')).toHaveLength(4);
    });

    it('ends as by Ctrl-C if it read the results, and says what to do', async () => {
      // More than a slow start of `head` leaves time for.
      writeFileSync(path('stream.csv'), `code\n${'c1\n'.repeat(200)}`);
      const read = 'userinfo -p local bulk read - mobile --format csv --rate 10/s';
      const { stdout, stderr } = await machine.shell(
        `{ cat stream.csv | ${read}; echo $? > status; } | head -n 1`,
        { env },
      );
      expect(stdout).toMatch(/^\{"line":2,[^\n]*\n$/);
      expect(stderr).toMatch(/^error: the reader of the outcomes has exited.*\n.*--results FILE/m);
      expect(content('status')).toBe('130\n');
    });
  },
);
