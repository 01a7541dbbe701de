import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../../src/service/database/errors.js';
import { postgresConfig } from '../../../src/service/database/postgres-config.js';
import { openPostgresDriver } from '../../../src/service/database/postgres-driver.js';
import { PostgresPool } from '../../../src/service/database/postgres-pool.js';
import type { Sql, SqlDriver } from '../../../src/service/database/sql-driver.js';
import {
  createPostgresDatabase,
  type PostgresDatabase,
} from '../../support/postgres/postgres-database.js';
import { execute } from '../../support/postgres/test-schema.js';
import { storeContract } from '../../support/store-contract.js';

storeContract('PostgreSQL', createPostgresDatabase);

describe('the PostgreSQL driver', () => {
  let database: PostgresDatabase;
  let driver: SqlDriver;

  beforeEach(async () => {
    database = await createPostgresDatabase();
    driver = await database.open({ poolSize: 2 });
    await driver.write(async (sql) => {
      await sql.run('CREATE TABLE things (name TEXT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)');
      await sql.run("INSERT INTO things (name, n) VALUES ('a', 0), ('b', 0)");
    });
  });
  afterEach(() => database.remove());

  const count = (sql: Sql, name: string) =>
    sql.run('UPDATE things SET n = n + 1 WHERE name = $1', [name]);
  const counts = async () => {
    const rows = await driver.read((sql) => sql.all('SELECT n FROM things ORDER BY name'));
    return rows.map(({ n }) => n);
  };
  const endConnection = 'SELECT pg_terminate_backend(pg_backend_pid())';

  it('retries a transaction that the database aborted to resolve a deadlock', async () => {
    let runs = 0;
    let holding = 0;
    let letGo = () => {};
    const bothHold = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const crosswise = (first: string, second: string) =>
      driver.write(async (sql) => {
        runs += 1;
        // On a busy machine the wait for the lock may end before the deadlock is seen.
        await sql.all("SET LOCAL lock_timeout = '30s'");
        await count(sql, first);
        holding += 1;
        if (holding === 2) letGo();
        await bothHold;
        await count(sql, second);
      });
    await Promise.all([crosswise('a', 'b'), crosswise('b', 'a')]);
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(await counts()).toEqual([2, 2]);
  });

  // Those with a Z, and XX000, are known by their class alone.
  const repeated = '40001 40P01 23505 08006 25006 25P04 57P01 57P0Z 08P0Z';
  const final = '26000 40003 42501 42P05 53100 57014 25P0Z 53Z99 58P0Z XX000';
  it.each([
    ...repeated.split(' ').map((state) => [state, 2] as const),
    ...final.split(' ').map((state) => [state, 1] as const),
  ])('runs a transaction that fails with the SQLSTATE %s in %i runs', async (state, most) => {
    let runs = 0;
    const work = driver.write(async (sql) => {
      runs += 1;
      await count(sql, 'a');
      if (runs === 1) await sql.all(`DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''${state}''; END'`);
    });
    await (most === 1 ? expect(work).rejects.toBeInstanceOf(StoreUnavailableError) : work);
    expect([runs, await counts()]).toEqual([most, [most - 1, 0]]);
  });

  it('retries a transaction once whose connection was lost before its commit', async () => {
    let runs = 0;
    const losing = (most: number) =>
      driver.write(async (sql) => {
        runs += 1;
        await count(sql, 'a');
        if (runs <= most) await sql.all(endConnection);
      });
    await losing(1);
    expect(runs).toBe(2);
    runs = 0;
    await expect(losing(9)).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(runs).toBe(2);
    expect(await counts()).toEqual([1, 0]);
  });

  it('ends a unit of work at its deadline, sends nothing more, and keeps its connection until it is answered', async () => {
    const single = await database.open({ poolSize: 1 });
    const order: string[] = [];
    const late = single.write(async (sql) => {
      await sql.all('SELECT pg_sleep(0.5)');
      order.push('answered');
      await count(sql, 'a');
    }, performance.now() + 100);
    await expect(late).rejects.toThrow('the database did not answer in time');
    order.push('refused');
    await single.write((sql) => count(sql, 'b'));
    order.push('next');
    expect(order).toEqual(['refused', 'answered', 'next']);
    expect(await counts()).toEqual([0, 1]);
    await expect(single.read(async () => '', performance.now())).rejects.toThrow('in time');
  });

  it('says that work may be stored whose COMMIT is not answered at its deadline', async () => {
    await execute(
      database.url,
      `CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON things DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION wait_at_commit()`,
    );
    const unanswered = 'did not confirm a commit: the work may be stored';
    await expect(driver.write((sql) => count(sql, 'a'), performance.now() + 300)).rejects.toThrow(
      unanswered,
    );
    const alone = driver.writeOnce(
      "UPDATE things SET n = n + 1 WHERE name = 'b'",
      [],
      performance.now() + 300,
    );
    await expect(alone).rejects.toThrow(unanswered);
    await expect.poll(counts).toEqual([1, 1]);
  });

  it('gives a statement the same name in every process: a session of a pooler may be of another', async () => {
    const named = async (statements: readonly string[]) => {
      const one = await database.open({ poolSize: 1 });
      for (const statement of statements) await one.read((sql) => sql.all(statement, [1]));
      const rows = await one.read((sql) =>
        sql.all('SELECT name, statement FROM pg_prepared_statements'),
      );
      return new Map(rows.map(({ name, statement }) => [name, statement]));
    };
    const statements = ['SELECT CAST($1 AS INT) AS a', 'SELECT CAST($1 AS INT) AS b'];
    const names = await named(statements);
    expect(names.size).toBe(2);
    expect(await named(statements.toReversed())).toEqual(names);
  });

  it('says why the database is lost as it is now, not as it was at first', async () => {
    const shutsDown = 'SFATAL\0C57P03\0Mthe database system is shutting down\0\0';
    const answer = Buffer.from(`E\0\0\0\0${shutsDown}`);
    answer.writeInt32BE(answer.length - 1, 1);
    const ending = createServer((socket) => void socket.once('data', () => socket.end(answer)));
    await once(ending.listen(0, '127.0.0.1'), 'listening');
    const {
      isPooled: _,
      workMs: __,
      ...config
    } = postgresConfig(`postgres://u@127.0.0.1:${(ending.address() as AddressInfo).port}/d`);
    const lost = new PostgresPool(config, 1, 'SELECT 1');
    const reason = () =>
      lost.use(async () => '', Number.POSITIVE_INFINITY).catch((error: Error) => error.message);
    expect(await reason()).toBe('the database is starting up or shutting down');
    ending.close();
    await expect.poll(reason).toBe('the database cannot be reached: nothing is listening there');
    await lost.close();
  });

  it('runs a transaction again, by another connection, where its server became read-only', async () => {
    await driver.read((sql) => sql.run('SET default_transaction_read_only = on'));
    await driver.write((sql) => count(sql, 'a'));
    expect(await counts()).toEqual([1, 0]);
  });

  it('does not retry a transaction whose connection was lost during its commit', async () => {
    await execute(
      database.url,
      `CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON things DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION end_connection()`,
    );
    let runs = 0;
    const lost = driver.write(async (sql) => {
      runs += 1;
      await count(sql, 'a');
    });
    await expect(lost).rejects.toThrow('did not confirm a commit: the work may be stored');
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(runs).toBe(1);
    const alone = driver.writeOnce("UPDATE things SET n = n + 1 WHERE name = 'a'", []);
    await expect(alone).rejects.toThrow('did not confirm a commit: the work may be stored');
    expect(await counts()).toEqual([0, 0]);
  });

  it('cancels a statement that takes too long, and continues', async () => {
    const hasty = await createPostgresDatabase();
    const slow = await hasty.open({ poolSize: 1 }, 'statement_timeout=50');
    const asleep = slow.read((sql) => sql.all('SELECT pg_sleep(10)'));
    await expect(asleep).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'the database did not answer in time',
    });
    expect(await slow.read((sql) => sql.all('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    // Nor does a process that is stopped in a transaction keep its locks.
    let runs = 0;
    await slow.write(async (sql) => {
      runs += 1;
      await sql.all('SELECT 1 AS one');
      if (runs === 1) await wait(1_000);
      await sql.all('SELECT 1 AS one');
    });
    expect(runs).toBe(2);
    await hasty.remove();
  });

  it('commits nothing of a transaction that ignored a failed statement', async () => {
    const careless = driver.write(async (sql) => {
      await count(sql, 'a');
      await sql.run('INSERT INTO things (name, n) VALUES ($1, $2)', ['b', 0]).catch(() => {});
    });
    await expect(careless).rejects.toThrow('ignored a statement that failed');
    expect(await counts()).toEqual([0, 0]);
  });

  it('refuses to round an integer that a number cannot hold', async () => {
    const large = driver.read((sql) => sql.all('SELECT 9007199254740993::BIGINT AS n'));
    await expect(large).rejects.toThrow('too large');
    expect(await counts()).toEqual([0, 0]);
  });

  it('works with fewer connections than its maximum if the database grants no more', async () => {
    const role = `few_${database.url.replace(/.*search_path%3D(\w+).*/, '$1')}`;
    await execute(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'x' CONNECTION LIMIT 2`);
    const few = new URL(database.url);
    few.username = role;
    few.password = 'x';
    const scarce = await openPostgresDriver(few.href, { poolSize: 10, probe: 'SELECT 1' });
    const sleep = () => scarce.read((sql) => sql.all('SELECT pg_sleep(0.02)'));
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 30 }, sleep));
    await scarce.close();
    await execute(database.url, `DROP ROLE ${role}`);
  });

  it('never exceeds its connections, and rejects work at once when too much is waiting', async () => {
    let atOnce = 0;
    let most = 0;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const work = () =>
      driver.write(async (sql) => {
        most = Math.max(most, ++atOnce);
        await sql.all('SELECT 1');
        await held;
        atOnce -= 1;
      });
    const taken = Array.from({ length: 2 + 100 }, work);
    await expect(work()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'the database is too slow for the load',
    });
    await expect.poll(() => most).toBe(2);
    letGo();
    await Promise.all(taken);
    expect(most).toBe(2);
  });
});
