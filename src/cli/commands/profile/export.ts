import type { Command } from 'commander';
import { exportProfile } from '../../../profiles/parse-profile.js';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { write } from '../../io.js';

export function declareProfileExport(profile: Command, context: CliContext): void {
  profile
    .command('export')
    .summary('print a profile as JSON, without the secret')
    .description('Print a profile as JSON, to hand it on. An app secret in the profile file is left out.')
    .argument('<name>', 'the profile')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile export shop-test', 'to the terminal'],
        ['userinfo profile export shop-test > shop-test.json', 'to a file'],
      ),
    )
    .action(async (name: string) => {
      const exported = exportProfile(await context.profiles.get(name));
      await write(context.io.stdout, `${JSON.stringify(exported, null, 2)}\n`);
    });
}
