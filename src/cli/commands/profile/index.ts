import type { Command } from 'commander';
import { describeProfile } from '../../../profiles/profile.js';
import { activateProfile, removeProfile, renameProfile } from '../../../profiles/profile-store.js';
import { quoteName } from '../../../protocol/text.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { type CommonOptions, examples } from '../../options.js';
import { confirm } from '../../prompt.js';
import { declareProfileAdd } from './add.js';
import { declareProfileSet } from './set.js';
import { declareProfileExport, declareProfileList, declareProfilePath, declareProfileShow } from './show.js';

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

export function declareProfileUse(profile: Command, context: CliContext): void {
  profile
    .command('use')
    .summary('switch to a profile')
    .description(
      'Make a profile the active one, which commands use unless -p or USERINFO_PROFILE names another.',
    )
    .argument('<name>', 'the profile')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile use shop-test', 'switch to the test deployment'],
        ['userinfo profile use shop', 'and back'],
      ),
    )
    .action((name: string) => runUse(context, name));
}

async function runUse({ io, profiles }: CliContext, name: string): Promise<void> {
  const { profiles: all } = await profiles.change((list) => activateProfile(list, name));
  const profile = all.get(name);
  if (profile !== undefined) await say(io, `now using ${describeProfile(profile)}`);
  if (io.env.USERINFO_PROFILE && io.env.USERINFO_PROFILE !== name) {
    await say(
      io,
      `USERINFO_PROFILE is ${quoteName(io.env.USERINFO_PROFILE)} and takes precedence in this shell.`,
    );
  }
}

export function declareProfileRename(profile: Command, context: CliContext): void {
  profile
    .command('rename')
    .summary('rename a profile')
    .description('Rename a profile. An active profile stays active.')
    .argument('<name>', 'the profile')
    .argument('<new-name>', 'its new name')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile rename shop shop-live', 'rename it'],
        ['userinfo profile rename shop-live shop', 'and back'],
      ),
    )
    .action(async (name: string, newName: string) => {
      await context.profiles.change((list) => renameProfile(list, name, newName));
      await say(context.io, `renamed "${name}" to "${newName}"`);
    });
}

export function declareProfileRemove(profile: Command, context: CliContext): void {
  const command = profile
    .command('remove')
    .summary('remove a profile')
    .description('Remove a profile, and its app secret if the profile file holds it. Asks first.')
    .argument('<name>', 'the profile')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile remove shop-test', 'asks for confirmation'],
        ['userinfo profile remove shop --yes', 'without asking'],
      ),
    )
    .action((name: string) => runRemove(context, name, command.optsWithGlobals()));
}

async function runRemove(context: CliContext, name: string, { yes }: CommonOptions): Promise<void> {
  const { io, profiles } = context;
  const profile = await profiles.get(name);
  await confirm(context, `Remove profile ${describeProfile(profile)}?`, yes);
  const { active, profiles: left } = await profiles.change((list) => removeProfile(list, name));
  await say(io, `removed "${name}"`);
  if (active === null && left.size > 0) {
    await say(io, 'No profile is active now: "userinfo profile use" selects one.');
  }
}
