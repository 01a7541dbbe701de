import { Option } from 'commander';
import { command } from '../../command.js';
import { parseCount } from '../../option-values.js';
import { printList } from '../../output/print.js';
import { declareApp } from './app.js';
import { declareCode } from './code.js';
import { type StoreCall, storeCommand } from './store.js';
import { declareUser } from './user.js';

const declareAudit = storeCommand({
  name: 'audit',
  summary: 'list the last admin actions',
  description:
    'List who did what with an app, a user or a code, newest first: the user of the operating system, and union IDs ' +
    'masked.',
  examples: [
    ['userinfo admin audit', 'the last 100 actions'],
    ['userinfo admin audit --limit 10 -o ndjson', 'one JSON object per line'],
  ],
  takes: (command) =>
    command.addOption(
      new Option('--limit <n>', 'maximum number of actions')
        .argParser((text) => parseCount(text, 'actions'))
        .default(100),
    ),
  run: ({ io, options, style, withStore }: StoreCall<{ readonly limit: number }>) =>
    withStore(async (store) => printList(await store.listAudit(options), io, style)),
});

export const declareAdmin = command({
  name: 'admin',
  summary: 'manage the apps, users and codes of the service',
  description:
    'Work on the store of "userinfo serve" directly, without HTTP, whether or not the service runs.',
  examples: [
    ['userinfo admin app create --tenant-code acme --channel web --profile local', 'an app, for -p local'],
    ['userinfo admin user list --tenant-code acme', 'the users'],
    ['userinfo admin code issue --tenant-code acme --union-id u001', 'a code for a read'],
  ],
  commands: [declareApp, declareUser, declareCode, declareAudit],
});
