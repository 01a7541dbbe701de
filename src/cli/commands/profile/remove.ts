import type { Command } from 'commander';
import { confirm } from '../../confirm.js';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { say } from '../../io.js';
import type { CommonOptions } from '../../options.js';
import { describeProfile } from './describe.js';

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
  const { active, profiles: left } = await profiles.remove(name);
  await say(io, `removed "${name}"`);
  if (active === null && left.size > 0) {
    await say(io, 'No profile is active now: "userinfo profile use" chooses one.');
  }
}
