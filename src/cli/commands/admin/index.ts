import { command } from '../../command.js';
import { declareApp } from './app.js';
import { declareAudit } from './audit.js';
import { declareCode } from './code.js';
import { declareMigrate } from './migrate.js';
import { declareUser } from './user.js';

export const declareAdmin = command({
  name: 'admin',
  common: [],
  summary: 'manage the apps, users, codes and database of the service',
  help: () => import('./help.txt?raw'),
  commands: [declareApp, declareUser, declareCode, declareAudit, declareMigrate],
});
