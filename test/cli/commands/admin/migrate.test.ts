import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { Machine, printedBy } from '../../../support/cli.js';

it('migrates a database apart from the service, which says how where that is wanted', async () => {
  using machine = new Machine();
  const serve = ['serve', '--no-migrate', '--port', '0'];
  const missing = await machine.run([...serve, '--database', 'new.db']);
  expect(missing.stderr).toContain('userinfo admin migrate');
  expect(missing.status).toBe(2);
  const migrate = ['admin', 'migrate', '--database', 'new.db', '--json'];
  // Of several at once, one does it.
  const ran = await Promise.all(
    [1, 2, 3].map(async () => JSON.parse((await machine.run(migrate)).stdout)),
  );
  const [{ to }] = ran;
  expect(to).toBeGreaterThan(0);
  expect(ran.map(({ from }) => from).sort()).toEqual([0, to, to]);

  const database = new DatabaseSync(machine.database);
  database.exec('CREATE TABLE userinfo_migrations (version BIGINT NOT NULL PRIMARY KEY)');
  database.close();
  const empty = await machine.run([...serve, '--database', machine.database]);
  expect(empty.stderr).toContain('holds no tables of the service');

  const service = machine.start([...serve, '--database', 'new.db']);
  await printedBy(service, /listening on/);
  service.kill('SIGKILL');
  const audit = await machine.run('admin audit --database new.db --query [*].subject'.split(' '));
  expect(audit.stdout).toContain(`schema 0 to ${to}`);
});
