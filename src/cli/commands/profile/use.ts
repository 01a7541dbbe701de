import type { Command } from 'commander';
import { quoteName } from '../../../protocol/text.js';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { say } from '../../io.js';
import { describeProfile } from './describe.js';

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
  const { profiles: all } = await profiles.use(name);
  const profile = all.get(name);
  if (profile !== undefined) await say(io, `now using ${describeProfile(profile)}`);
  if (io.env.USERINFO_PROFILE && io.env.USERINFO_PROFILE !== name) {
    await say(
      io,
      `USERINFO_PROFILE is ${quoteName(io.env.USERINFO_PROFILE)} and takes precedence in this shell.`,
    );
  }
}
