// `userinfo admin migrate` alone migrates without a service.
import { systemUser } from './administration/admin-context.js';
import type { Migration } from './database/migrations.js';
import { openStore, type StoreOptions } from './store/store.js';

/**
 * Creates the tables of a database, or brings them up to date, as the service does when it starts.
 * Programs of a version with which the new tables work go on beside those of this one.
 *
 * @returns the number of its schema before (0 for none) and after
 * @throws StartError for a newer schema that does not work with this version, or a database that
 * cannot be used
 */
export async function migrateDatabase(
  options: StoreOptions & { readonly actor?: string },
): Promise<Migration> {
  const store = await openStore(options.database ?? ':memory:', options);
  try {
    const { from, to } = store.migration;
    const line = { actor: options.actor ?? systemUser(), action: 'migrate', tenant_code: null };
    if (from !== to)
      await store.write(({ audit }) => audit.add({ ...line, subject: `schema ${from} to ${to}` }));
    return store.migration;
  } finally {
    await store.close();
  }
}
