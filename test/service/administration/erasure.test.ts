import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { createService } from '../../../src/service/index.js';
import { valueDigest } from '../../../src/service/store/users.js';
import { dump } from '../../support/postgres/dump.js';
import { createSchema } from '../../support/postgres/test-schema.js';
import { tenant, user, withApp } from '../../support/running-service.js';
import { temporaryFile } from '../../support/temporary-file.js';

const onPostgres = process.env.USERINFO_TEST_STORE === 'postgres';

/** All rows of all tables of a SQLite file, as text. */
function dumpFile(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const rows = tables.flatMap(({ name }) => database.prepare(`SELECT * FROM "${name}"`).all());
  database.close();
  return rows.map((row) => JSON.stringify(row)).join('\n');
}

it('leaves nothing of a deleted user in any table, and says what it deleted', async () => {
  const file = await temporaryFile('users.db');
  const schema = onPostgres ? await createSchema() : null;
  const database = schema?.url ?? file;
  const dumped = async () => (schema === null ? dumpFile(database) : dump(schema.url));
  const service = await createService({ database });
  const { admin } = service;
  const unionId = 'union-of-erased-person';
  const values = { mobile: '13800001234', level: 'violet-tier' };
  await admin.putUsers([
    user(unionId, {
      basic_info: { mobile: values.mobile },
      extension_info: { level: values.level },
      gps: '39.9,116.4',
    }),
    user('u2', { basic_info: { mobile: '13900005678' } }),
  ]);
  const key = { tenantCode: tenant, unionId };
  const codes = await admin.issueCodes({ tenantCode: tenant, unionIds: [unionId, unionId, 'u2'] });
  const { passback } = await withApp(service);
  const { envelope } = await passback({ union_id: unionId, user_info: '{"seen":"indigo"}' });
  expect(envelope.code).toBe(200);
  await admin.getUser(key);
  for await (const _ of admin.findUsers({
    tenantCode: tenant,
    key: 'mobile',
    value: values.mobile,
  }));

  const personal = [
    unionId,
    ...Object.values(values),
    '39.9,116.4',
    'indigo',
    ...Object.entries(values).map(([name, value]) => valueDigest({ name, value })),
    ...codes.slice(0, 2).map((code) => code?.code ?? ''),
  ];
  const before = await dumped();
  expect(personal.filter((text) => !before.includes(text))).toEqual([]);

  expect(await admin.deleteUser(key)).toEqual({ records: 1, indexed_values: 4, codes: 2 });
  const after = await dumped();
  expect(personal.filter((text) => after.includes(text))).toEqual([]);
  // Others stay, and so does the audit: who did what, with a masked ID.
  expect(after).toContain('13900005678');
  expect(after).toContain(codes[2]?.code);
  expect(after).toContain('user delete');
  await service.close();
  // Neither do the bytes of the files.
  const folder = dirname(file);
  const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  expect(personal.filter((text) => bytes.some((content) => content.includes(text)))).toEqual([]);
  await schema?.remove();
});
