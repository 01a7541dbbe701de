import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { say } from '../../io.js';

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
      await context.profiles.rename(name, newName);
      await say(context.io, `renamed "${name}" to "${newName}"`);
    });
}
