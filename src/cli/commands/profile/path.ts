import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { write } from '../../io.js';
import { showText } from '../../output/terminal-text.js';

export function declareProfilePath(profile: Command, context: CliContext): void {
  profile
    .command('path')
    .summary('print the path of the profile file')
    .description('Print the path of the profile file. USERINFO_CONFIG_DIR names another folder for it.')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile path', 'the file need not exist'],
        ['USERINFO_CONFIG_DIR=./config userinfo profile path', 'in another folder'],
      ),
    )
    .action(() => {
      const { stdout } = context.io;
      const { path } = context.profiles;
      return write(stdout, `${stdout.isTTY ? showText(path) : path}\n`);
    });
}
