import { type Call, command } from '../command.js';
import { printMessage } from '../io.js';
import { chooseDatabase, databaseOption, masterKeys, namedDatabase } from '../service/database.js';

export const declareMigrate = command({
  name: 'migrate',
  summary: 'update the tables of the service',
  description:
    'Create the tables of the service, or bring those of an older version up to date, before "userinfo serve ' +
    '--no-migrate" of this version starts. Services of the older version keep running if it works with the new tables.',
  examples: [
    ['userinfo migrate', 'the default database'],
    ['userinfo migrate --database f.db --json', 'another one; prints {"from":…,"to":…}'],
  ],
  takes: (command) => command.addOption(databaseOption()),
  run: async ({ io, options, isTable, print }: Call<{ readonly database?: string }>) => {
    const { migrateDatabase } = await import('../../service/migrate.js');
    const { from, to } = await migrateDatabase({
      database: await chooseDatabase(namedDatabase(options.database, io.env), true),
      masterKeys: await masterKeys(io.env),
    });
    if (!isTable) return print({ from, to });
    await printMessage(
      io,
      from === to ? `schema ${to} is up to date` : `migrated from schema ${from} to ${to}`,
    );
  },
});
