import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StartError, StoreUnavailableError } from '../../../src/service/database/errors.js';
import type { SqlDriver } from '../../../src/service/database/sql-driver.js';
import { openSqliteDriver } from '../../../src/service/database/sqlite-driver.js';
import { translateSqliteError } from '../../../src/service/database/sqlite-errors.js';
import { createStore, openStore } from '../../../src/service/store/store.js';
import { everyStatement } from '../../support/every-statement.js';
import { createSqliteDatabase, type SqliteDatabase } from '../../support/sqlite-database.js';
import { storeContract } from '../../support/store-contract.js';
import { temporaryFile } from '../../support/temporary-file.js';

storeContract('SQLite', createSqliteDatabase);

describe('the SQLite driver', () => {
  let database: SqliteDatabase;
  let driver: SqlDriver;

  beforeEach(async () => {
    // What arrives at once shares a commit, however slow the machine is.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    database = await createSqliteDatabase();
    driver = await database.open({ busyTimeoutMs: 200 });
    await driver.write(async (sql) => {
      await sql.run('CREATE TABLE userinfo_migrations (version BIGINT)');
      await sql.run('CREATE TABLE things (name TEXT NOT NULL PRIMARY KEY)');
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    return database.remove();
  });

  const add = (name: string) =>
    driver.write((sql) => sql.run('INSERT INTO things (name) VALUES ($1)', [name]));
  const count = async () => (await driver.read((sql) => sql.all('SELECT name FROM things'))).length;

  it('writes what comes at once in few transactions, none of them longer than a moment, and undoes what fails', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const answered: string[] = [];
    const write = async (name: string, ms: number, fails = false) => {
      const writing = driver.write(async (sql) => {
        await sql.run('INSERT INTO things (name) VALUES ($1)', [name]);
        now += ms;
        if (fails) throw new Error('refused');
        return (await sql.all('SELECT name FROM things')).length;
      });
      await writing.then(
        () => answered.push(name),
        () => answered.push(`-${name}`),
      );
    };
    const pages = async () => (await stat(`${database.file}-wal`)).size;
    const before = await pages();
    await Promise.all([write('a', 0), write('b', 0, true), write('c', 11), write('d', 0)]);
    expect(answered).toEqual(['a', '-b', 'c', 'd']);
    expect(await count()).toBe(3);
    // Two commits, each of a page of the table and one of its index.
    expect((await pages()) - before).toBe(2 * 2 * (4096 + 24));
  });

  it('makes its files for their owner alone', async () => {
    const folder = dirname(database.file);
    const files = await readdir(folder);
    expect(files.sort()).toEqual(['test.db', 'test.db-shm', 'test.db-wal']);
    for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  });

  it('removes the permissions of others from existing files', async () => {
    await driver.close();
    await chmod(database.file, 0o644);
    // A program that was killed leaves all three behind.
    for (const end of ['-wal', '-shm']) await writeFile(database.file + end, '', { mode: 0o666 });
    driver = await database.open();
    await add('one');
    for (const file of await readdir(dirname(database.file))) {
      expect((await stat(join(dirname(database.file), file))).mode & 0o777, file).toBe(0o600);
    }
  });

  it('leaves an empty file unchanged unless it creates the tables', async () => {
    const file = join(dirname(database.file), 'empty');
    await writeFile(file, '');
    await chmod(file, 0o644);
    await expect(openStore(file, { create: false })).rejects.toThrow(
      'the database holds no tables',
    );
    expect(await stat(file)).toMatchObject({ size: 0, mode: 0o100644 });
  });

  it('removes them from the files beside the target of a link', async () => {
    await driver.close();
    await chmod(database.file, 0o644);
    const elsewhere = join(dirname(database.file), 'elsewhere');
    await mkdir(elsewhere);
    await symlink(database.file, join(elsewhere, 'link.db'));
    driver = await openSqliteDriver(join(elsewhere, 'link.db'));
    await add('one');
    for (const end of ['', '-wal', '-shm']) {
      expect((await stat(database.file + end)).mode & 0o777, end).toBe(0o600);
    }
    await driver.close();
  });

  it.runIf(process.platform === 'linux')(
    'puts nothing of a large change into a temporary file (needs Linux)',
    async () => {
      const openFiles = async () => {
        const numbers = await readdir('/proc/self/fd');
        return await Promise.all(
          numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')),
        );
      };
      for (let row = 0; row < 100; row++) await add(`${row}${'x'.repeat(4096)}`);
      const during = await driver.write(async (sql) => {
        await sql.run("UPDATE things SET name = name || 'y'");
        return await openFiles();
      });
      expect(during.filter((file) => file.includes('test.db'))).not.toEqual([]);
      expect(during.filter((file) => file.includes('etilqs_'))).toEqual([]);
    },
  );

  it('releases its file and its prepared statements when it is closed', async () => {
    const beside = await database.open();
    await beside.read((sql) => sql.all('SELECT name FROM things'));
    await add('kept');
    await beside.close();
    await add('kept too');
    expect(await readdir(dirname(database.file))).toHaveLength(3);
    await driver.close();
    expect(await readdir(dirname(database.file))).toEqual(['test.db']);
  });

  it('writes to the disk before it answers', async () => {
    const settings = await driver.read(async (sql) => [
      ...(await sql.all('PRAGMA store.journal_mode')),
      ...(await sql.all('PRAGMA store.synchronous')),
    ]);
    expect(settings).toEqual([{ journal_mode: 'wal' }, { synchronous: 2 }]);
  });

  it('waits for a process that locks the database, without blocking the event loop', async () => {
    const holder = new DatabaseSync(database.file);
    holder.exec('BEGIN IMMEDIATE');
    setTimeout(() => {
      holder.exec('COMMIT');
      holder.close();
    }, 50);
    await Promise.all([add('waited'), add('waited too')]);
    expect(await count()).toBe(2);
  });

  it('waits for another process that creates the same file', async () => {
    const file = `${database.file}-new`;
    const holder = new DatabaseSync(file);
    holder.exec('BEGIN EXCLUSIVE');
    setTimeout(() => holder.close(), 50);
    const opened = await openSqliteDriver(file);
    await opened.close();
  });

  it('fails only the commit that does not fit into a full database', async () => {
    const [pages] = await driver.read((sql) => sql.all('PRAGMA store.page_count'));
    await driver.read((sql) =>
      sql.all(`PRAGMA store.max_page_count = ${Number(pages?.page_count) + 4}`),
    );
    const outcomes = await Promise.allSettled([
      add('small'),
      add('large'.repeat(1e6)),
      add('small too'),
    ]);
    // The one that shared the commit is refused, too.
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({
      reason: {
        message: 'the database or its disk is full',
        hint: expect.stringContaining('Free space'),
      },
    });
    expect(await count()).toBe(1);
    await driver.read((sql) => sql.all('PRAGMA store.max_page_count = 1000000'));
    await add('large'.repeat(1e6));
    expect(await count()).toBe(2);
  });

  it('fails all that share a commit that fails', async () => {
    const deferred = async (name: string) =>
      driver.write(async (sql) => {
        await sql.run('INSERT INTO things (name) VALUES ($1)', [name]);
        // A foreign key that is checked at COMMIT, and fails there.
        if (name === 'dangling')
          await sql.run('INSERT INTO children (parent) VALUES ($1)', ['nobody']);
      });
    await driver.write(async (sql) => {
      await sql.run(
        'CREATE TABLE children (parent TEXT REFERENCES things (name) DEFERRABLE INITIALLY DEFERRED)',
      );
    });
    const outcomes = await Promise.allSettled([deferred('innocent'), deferred('dangling')]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } });
    }
    expect(await count()).toBe(0);
    await add('afterwards');
    expect(await count()).toBe(1);
  });

  it('fails while its file is missing, and continues once it is back', async () => {
    await createStore(driver);
    await add('kept');
    await rename(database.file, `${database.file}.away`);
    await expect(add('lost')).rejects.toThrow(
      new StoreUnavailableError('the database file is gone'),
    );
    await expect(count()).rejects.toThrow('the database file is gone');
    await rename(`${database.file}.away`, database.file);
    await add('kept too');
    expect(await count()).toBe(2);
  });

  it.each(['is of another application', 'has none of its tables', 'is no database'])(
    'does not write to a file in the place of its own that %s',
    async (kind) => {
      await add('kept');
      await driver.checkpoint();
      await rename(database.file, `${database.file}.away`);
      if (kind === 'is no database') await writeFile(database.file, 'a text '.repeat(1000));
      else {
        const other = new DatabaseSync(database.file);
        if (kind === 'is of another application') other.exec('CREATE TABLE notes (text)');
        other.close();
      }
      const before = await readFile(database.file);
      const replaced = new StoreUnavailableError(
        'the database file was replaced while it was in use',
      );
      await expect(add('lost')).rejects.toThrow(replaced);
      await expect(count()).rejects.toThrow(replaced);
      expect(await readFile(database.file)).toEqual(before);
      await rename(`${database.file}.away`, database.file);
      await add('kept too');
      expect(await count()).toBe(2);
    },
  );

  it('reports an overwritten file every time, and continues once it is restored', async () => {
    await createStore(driver);
    await add('kept');
    await driver.read((sql) => sql.all('PRAGMA store.wal_checkpoint(TRUNCATE)'));
    const whole = await readFile(database.file);
    await writeFile(database.file, Buffer.alloc(whole.length, 'x'));
    await driver.read((sql) => sql.all('PRAGMA shrink_memory'));
    const damaged = new StoreUnavailableError('the file is not a database');
    await expect(count()).rejects.toThrow(damaged);
    await expect(count()).rejects.toThrow(damaged);
    await writeFile(database.file, whole);
    expect(await count()).toBe(1);
    await add('kept too');
    expect(await count()).toBe(2);
  });

  it('refuses a statement with the wrong number of values', async () => {
    await expect(driver.read((sql) => sql.all('SELECT $1, $2', ['one']))).rejects.toThrow(
      '2 values wanted, 1 given',
    );
  });

  /** A step that looks into a table by a key, or into none. What is found may be sorted. */
  const isKeyed =
    /USING .*(INDEX|KEY)|(LIST|SCALAR|LEFT-MOST) SUBQUERY|COMPOUND QUERY|UNION ALL|(CO-ROUTINE|SCAN) given|CONSTANT ROW|FOR ORDER BY/;

  it('uses an index for every statement of the store', async () => {
    await createStore(driver);
    for (const [name, statement] of Object.entries(everyStatement)) {
      const values = [...new Set(statement.match(/\$\d+/g))].map(() => null);
      const plan = await driver.read((sql) => sql.all(`EXPLAIN QUERY PLAN ${statement}`, values));
      const details = plan.map(({ detail }) => String(detail));
      if (!statement.startsWith('INSERT')) expect(details, name).not.toEqual([]);
      expect(
        details.filter((detail) => !isKeyed.test(detail)),
        name,
      ).toEqual([]);
    }
  });

  it.each([
    ['a folder that is not there', 'no such file or folder', 'Its folder must exist'],
    ['a folder', 'not a file', 'an existing file must be an SQLite database'],
    ['a file that is no database', 'not a database', 'an existing file must be an SQLite database'],
    ['a database that another process locks', 'locked', 'Wait for that process, or end it.'],
    ['a database with a damaged schema', 'the database file is damaged', 'Restore a backup.'],
    ['a database with a damaged table', 'the database file is damaged', 'Restore a backup.'],
  ])('says why it cannot use %s', async (kind, reason, hint) => {
    const file = await temporaryFile(kind.includes('not there') ? 'no/x.db' : 'odd.db');
    if (kind === 'a folder') await mkdir(file);
    if (kind.includes('damaged')) {
      await (await createStore(await openSqliteDriver(file))).close();
      const bytes = await readFile(file);
      await writeFile(file, bytes.fill(0xff, kind.includes('schema') ? 100 : 4096 * 2, 4096 * 3));
    } else if (kind.includes('no database')) await writeFile(file, 'a text '.repeat(1000));
    const holder = kind.includes('locks') ? new DatabaseSync(file) : null;
    holder?.exec('PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE x (y); BEGIN EXCLUSIVE');
    const opening = (async () =>
      await createStore(await openSqliteDriver(file, { busyTimeoutMs: 50 })))();
    await expect(opening).rejects.toMatchObject({ hint: expect.stringContaining(hint) });
    await expect(opening).rejects.toThrow(new RegExp(`${file}.*${reason}|^${reason}`));
    holder?.close();
  });

  it.each([5, 517, 778, 1032])(
    'takes the code %i of SQLite, which may be extended, for a fault of the database',
    (errcode) => {
      const fault = translateSqliteError(Object.assign(new Error('x'), { errcode }));
      expect(fault).toBeInstanceOf(StoreUnavailableError);
    },
  );

  it('does not open the database of another application', async () => {
    const file = await temporaryFile('notes.db');
    const notes = new DatabaseSync(file);
    notes.exec('CREATE TABLE notes (text)');
    await expect(openStore(file)).rejects.toThrow(
      `cannot open the database ${file}: it holds the tables of another application`,
    );
    expect(notes.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'notes' }]);
    notes.close();
    await expect(openStore(dirname(file))).rejects.toThrow('it is not a file');
  });

  it.each(['mysql://host/db', '', 'user=me dbname=x', 'host = db', 'sqlite:x.db', 'file:x.db'])(
    'does not treat %j as a file',
    async (name) => {
      await expect(openStore(name)).rejects.toThrow(StartError);
    },
  );
});

async function _walBytes(file: string): Promise<number> {
  return (await stat(`${file}-wal`)).size;
}
