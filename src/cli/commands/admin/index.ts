import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareApp } from './app.js';
import { declareCode } from './code.js';
import { declareUser } from './user.js';

export function declareAdmin(program: Command, context: CliContext): void {
  const admin = program
    .command('admin')
    .summary('manage the apps, users and codes of the service')
    .description(
      'Work on the store of "userinfo serve" directly, without HTTP, whether or not the service runs.',
    );
  declareApp(admin, context);
  declareUser(admin, context);
  declareCode(admin, context);
}
