import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { FailedFile } from '../../../../../src/cli/commands/bulk/files/failed-file.js';
import { RunFiles, type RunStart } from '../../../../../src/cli/commands/bulk/files/run-files.js';
import { passbackOperation } from '../../../../../src/cli/commands/bulk/operations.js';
import { NdjsonRow } from '../../../../../src/cli/commands/bulk/source/ndjson.js';

/** An input without a byte-order mark. */
const plain = { isPlainUtf8: () => true };

/** There are no disks to wait for. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const above = mkdtempSync(join(memory, 'userinfo-claimed-'));
afterAll(() => rmSync(above, { recursive: true }));
const folder = join(above, 'run');

const place = (name: string) => join(folder, name);
const paths = { journal: place('journal'), results: place('results'), failed: null };
const operation = passbackOperation({ by: 'union_id', column: 'union_id' });

/** A run without rows. */
async function run(start: RunStart, meanwhile = () => {}): Promise<void> {
  const files = new RunFiles(paths, start, operation);
  try {
    await files.claim();
    meanwhile();
    const { journal, results } = await files.open({ run: 'it' });
    results.append('{"line":2,"outcome":"ok","code":200,"msg":"m"}\n');
    journal.append('');
  } finally {
    files.release();
  }
}

it('the file of failed rows is that of a run which --restart began and a kill ended', async () => {
  const withFailed = { ...paths, failed: place('failed') };
  const part = async (start: RunStart, row: NdjsonRow | null) => {
    const files = new RunFiles(withFailed, start, operation);
    try {
      await files.claim();
      const { failed } = await files.open({ run: 'it' });
      if (failed === null || row === null) return;
      const file = new FailedFile(failed, plain);
      file.add(row, 'it failed');
      file.finish();
      file.close();
    } finally {
      files.release();
    }
  };
  await part('new', new NdjsonRow(2, '{"union_id":"u1"}'));
  await part('restart', null);
  await part('resume', new NdjsonRow(3, '{"union_id":"u2"}'));
  expect(readFileSync(place('failed'), 'utf8')).toBe(
    '{"userinfo_reason":"it failed","union_id":"u2"}\n',
  );
});

beforeEach(() => {
  for (const name of readdirSync(above)) rmSync(join(above, name), { recursive: true });
  mkdirSync(folder);
});

/** Type, inode, and contents or target of everything that is there. */
const snapshot = () =>
  readdirSync(folder).map((name) => {
    const stat = lstatSync(place(name));
    if (stat.isSymbolicLink()) return [name, stat.ino, readlinkSync(place(name))];
    return [name, stat.ino, stat.isFile() ? readFileSync(place(name), 'utf8') : stat.mode];
  });

const changes: Readonly<Record<string, (path: string) => void>> = {
  'writes to': (path) => appendFileSync(path, 'precious\n'),
  replaces: (path) => {
    writeFileSync(`${path}.new`, 'precious\n');
    renameSync(`${path}.new`, path);
  },
  'links another file to': (path) => {
    writeFileSync(place('precious'), 'precious\n');
    rmSync(path);
    symlinkSync('precious', path);
  },
  'makes a pipe of': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  removes: (path) => rmSync(path),
  'moves away the folder of': (path) => {
    renameSync(folder, `${folder}.old`);
    mkdirSync(folder);
    writeFileSync(path, 'precious\n');
  },
};

describe('between the check of a file and its use, another program', () => {
  const cases = (['journal', 'results'] as const).flatMap((file) =>
    (['resume', 'restart'] as const).flatMap((start) =>
      Object.keys(changes).map((change) => [change, file, start] as const),
    ),
  );
  it.each(cases)('%s the %s, and --%s is refused', async (change, file, start) => {
    await run('new');
    let before: unknown;
    const meanwhile = () => {
      changes[change]?.(paths[file]);
      before = snapshot().filter(([name]) => !String(name).endsWith('lock'));
    };
    await expect(run(start, meanwhile)).rejects.toThrow(
      /was changed by another program after it was checked/,
    );
    expect(snapshot()).toEqual(before);
  });

  it.each(['journal', 'results'] as const)(
    'creates the %s, and it is not replaced',
    async (file) => {
      const meanwhile = () => writeFileSync(paths[file], 'precious\n');
      await expect(run('new', meanwhile)).rejects.toThrow(
        /was changed by another program after it was checked/,
      );
      expect(readFileSync(paths[file], 'utf8')).toBe('precious\n');
    },
  );

  it.each(['replaces', 'links another file to', 'makes a pipe of'])(
    '%s the failed file',
    (change) => {
      const path = place('failed');
      writeFileSync(path, '');
      const failed = new FailedFile({ path, ours: [] }, plain);
      failed.add(new NdjsonRow(2, '{"union_id":"u1"}'), 'it failed');
      changes[change]?.(path);
      const before = snapshot().filter(([name]) => !String(name).endsWith('draft'));
      expect(() => failed.finish()).toThrow(/already exists/);
      failed.close();
      expect(snapshot()).toEqual(before);
    },
  );
});
