import { command } from '../../command.js';
import { declareApp } from './app.js';
import { declareAudit } from './audit.js';
import { declareCode } from './code.js';
import { declareUser } from './user.js';

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
