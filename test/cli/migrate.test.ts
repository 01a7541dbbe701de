import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { storeSchema } from '../../src/service/store/statements.js';
import { Machine, printedBy } from '../support/cli.js';

/** A database as the version wrote it that had three steps. */
function createThirdVersion(file: string): void {
  const old = new DatabaseSync(file);
  const steps = storeSchema.steps.slice(0, 3);
  for (const statement of steps.flat()) old.exec(statement);
  old.exec('CREATE TABLE userinfo_migrations (version BIGINT NOT NULL PRIMARY KEY)');
  for (const version of steps.keys()) old.exec(`INSERT INTO userinfo_migrations VALUES (${version + 1})`);
  old.close();
}

it('migrates a database apart from the service, which says how where that is wanted', async () => {
  using machine = new Machine();
  const serve = ['serve', '--no-migrate', '--port', '0'];
  const missing = await machine.run([...serve, '--database', 'new.db']);
  expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('userinfo migrate')]);
  const migrate = ['migrate', '--database', 'new.db', '--json'];
  // Of several at once, one does it.
  const ran = await Promise.all([1, 2, 3].map(async () => JSON.parse((await machine.run(migrate)).stdout)));
  const [{ to }] = ran;
  expect(to).toBeGreaterThan(3);
  expect(ran.map(({ from }) => from).sort()).toEqual([0, to, to]);

  const database = new DatabaseSync(machine.database);
  database.exec('CREATE TABLE userinfo_migrations (version BIGINT NOT NULL PRIMARY KEY)');
  database.close();
  const empty = await machine.run([...serve, '--database', machine.database]);
  expect(empty.stderr).toContain('holds no tables of the service');

  createThirdVersion(`${machine.folder}/old.db`);
  const refused = await machine.run([...serve, '--database', 'old.db']);
  const [, command = ''] = /^ {2}userinfo (.*)$/m.exec(refused.stderr) ?? [];
  expect([refused.status, command]).toEqual([2, 'migrate --database old.db']);
  const admin = await machine.run(['admin', 'app', 'list', '--database', 'old.db'], {
    env: { USERINFO_NO_MIGRATE: '1' },
  });
  expect([admin.status, admin.stderr]).toEqual([2, expect.stringContaining('schema 3')]);
  expect((await machine.run(command.split(' '))).stderr).toBe(`migrated from schema 3 to ${to}\n`);

  const service = machine.start([...serve, '--database', 'old.db']);
  await printedBy(service, /listening on/);
  service.kill('SIGKILL');
  const audit = await machine.run(['admin', 'audit', '--database', 'old.db', '--query', '[*].subject']);
  expect(audit.stdout).toContain(`schema 3 to ${to}`);
});
