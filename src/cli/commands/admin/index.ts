import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareAppCreate, declareAppList, declareAppRemove, declareAppRotateSecret } from './app.js';
import { declareCodeIssue, declareCodeList, declareCodeRevoke } from './code.js';
import { declareUserDelete, declareUserGet, declareUserList, declareUserPut } from './user.js';

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
