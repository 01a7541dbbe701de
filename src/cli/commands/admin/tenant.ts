import { InvalidInputError } from '../../../protocol/errors.js';
import { command } from '../../command.js';
import { parseFilled } from '../../command-line/option-values.js';
import { printMessage } from '../../io.js';
import { printList } from '../../output/print.js';
import { type StoreCall, storeCommand } from './store.js';

interface SetOptions {
  readonly tenantCode: string;
  readonly findBy: string;
}

const declareSet = storeCommand({
  name: 'set',
  summary: 'set the keys by which users are found',
  description:
    'Set the keys by whose values users of a tenant are found, by primary_key in a passback and by "admin user find". ' +
    'Another primary_key is refused with 40002. Most of the database is the index of these values. The command goes ' +
    'through all users; until it ends, users are not found by a new key. The service keeps running.',
  examples: [
    ['userinfo admin tenant set --tenant-code acme --find-by mobile,id_card', 'by two keys'],
    ['userinfo admin tenant set --tenant-code acme --find-by all', 'by every key, the default'],
  ],
  takes: (command) =>
    command
      .requiredOption('--tenant-code <code>', 'tenant of the users')
      .requiredOption('--find-by <keys>', 'keys, between commas; all; or none', parseFilled('--find-by')),
  run: async ({ io, isTable, options, print, withStore }: StoreCall<SetOptions>) => {
    const { tenantCode, findBy } = options;
    const users = await withStore(async (store) => {
      try {
        return await store.setTenant({ tenantCode, findBy: keysOf(findBy) });
      } catch (error) {
        // Ctrl-C, or a database that is lost.
        if (isTable && !(error instanceof InvalidInputError)) {
          await printMessage(io, 'Some users may not be indexed. To index all, run the command again.');
        }
        throw error;
      }
    });
    const indexed = `${users} ${users === 1 ? 'user' : 'users'}`;
    if (isTable)
      await printMessage(io, `users of tenant "${tenantCode}" are found by ${findBy}: indexed ${indexed}`);
    else await print({ tenant_code: tenantCode, find_by: keysOf(findBy), users });
  },
});

const declareList = storeCommand({
  name: 'list',
  summary: 'list the tenants whose keys were set',
  description:
    'List the tenants whose keys were set, and whether all their users are indexed by these: otherwise run ' +
    '"admin tenant set" again.',
  examples: [
    ['userinfo admin tenant list', 'as a table'],
    ['userinfo admin tenant list --json', 'as a JSON array'],
  ],
  run: ({ io, style, withStore }) => withStore((store) => printList(store.listTenants(), io, style)),
});

export const declareTenant = command({
  name: 'tenant',
  summary: 'set by which keys users are found',
  description: 'Settings of tenants.',
  examples: [
    ['userinfo admin tenant set --tenant-code acme --find-by mobile,id_card', 'users are found by two keys'],
    ['userinfo admin tenant list', 'all settings'],
  ],
  commands: [declareSet, declareList],
});

function keysOf(text: string): readonly string[] | 'all' {
  if (text === 'all') return 'all';
  return text === 'none' ? [] : text.split(',').map((key) => key.trim());
}
