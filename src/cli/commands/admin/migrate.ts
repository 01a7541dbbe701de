import { command, type Invocation } from '../../command.js';
import { chooseStore, databaseOption } from '../../command-line/database.js';

export const declareMigrate = command({
  name: 'migrate',
  common: ['output'],
  summary: 'update the tables of the service',
  takes: (command) => command.addOption(databaseOption()),
  action: async ({ io, options, print }: Invocation<{ readonly database?: string }>) => {
    const { migrateDatabase } = await import('../../../service/migrate.js');
    const { from, to } = await migrateDatabase(await chooseStore(options.database, io.env, true));
    await print({ from, to });
  },
});
