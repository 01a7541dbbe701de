import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { say } from '../../io.js';

export function declareProfileRename(profile: Command, context: CliContext): void {
  profile
    .command('rename')
    .summary('rename a profile')
    .description('Give a profile another name; if it is the active one, it stays so.')
    .argument('<name>', 'the profile')
    .argument('<new-name>', 'what to call it')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile rename shop shop-live', 'a name that warns'],
        ['userinfo profile rename shop-live shop', 'and back'],
      ),
    )
    .action(async (name: string, newName: string) => {
      await context.profiles.rename(name, newName);
      await say(context.io, `renamed "${name}" to "${newName}"`);
    });
}
