import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareAppCreate } from './app-create.js';
import { declareAppList } from './app-list.js';
import { declareAppRemove } from './app-remove.js';
import { declareAppRotateSecret } from './app-rotate-secret.js';
import { declareCodeIssue } from './code-issue.js';
import { declareCodeList } from './code-list.js';
import { declareCodeRevoke } from './code-revoke.js';
import { declareUserDelete } from './user-delete.js';
import { declareUserGet } from './user-get.js';
import { declareUserList } from './user-list.js';
import { declareUserPut } from './user-put.js';

export function declareAdmin(program: Command, context: CliContext): void {
  const admin = program
    .command('admin')
    .summary("manage the apps, users and codes of the service's store")
    .description(
      'Work on the store of "userinfo serve" directly, without HTTP, whether or not it is running.',
    );
  const app = admin.command('app').description('Server applications: who may call the service.');
  declareAppCreate(app, context);
  declareAppList(app, context);
  declareAppRotateSecret(app, context);
  declareAppRemove(app, context);
  const user = admin.command('user').description('User records.');
  declareUserPut(user, context);
  declareUserGet(user, context);
  declareUserList(user, context);
  declareUserDelete(user, context);
  const code = admin.command('code').description('Authorization codes: what a read needs.');
  declareCodeIssue(code, context);
  declareCodeList(code, context);
  declareCodeRevoke(code, context);
}
