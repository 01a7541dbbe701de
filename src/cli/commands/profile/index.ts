import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { declareProfileAdd } from './add.js';
import { declareProfileExport } from './export.js';
import { declareProfileList } from './list.js';
import { declareProfilePath } from './path.js';
import { declareProfileRemove } from './remove.js';
import { declareProfileRename } from './rename.js';
import { declareProfileSet } from './set.js';
import { declareProfileShow } from './show.js';
import { declareProfileUse } from './use.js';

export function declareProfile(program: Command, context: CliContext): void {
  const profile = program
    .command('profile')
    .summary('manage profiles: base URLs and credentials of your deployments')
    .description('A profile holds what one application needs to call one deployment.');
  declareProfileAdd(profile, context);
  declareProfileList(profile, context);
  declareProfileShow(profile, context);
  declareProfileUse(profile, context);
  declareProfileSet(profile, context);
  declareProfileRename(profile, context);
  declareProfileRemove(profile, context);
  declareProfileExport(profile, context);
  declareProfilePath(profile, context);
}
