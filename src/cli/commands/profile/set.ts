import { InvalidInputError } from '../../../core/contract/errors.js';
import { describeProfile } from '../../../core/profiles/profile.js';
import { updateProfile } from '../../../core/profiles/profile-store.js';
import { command, type Invocation } from '../../command.js';
import { printMessage } from '../../io.js';
import { confirm } from '../../prompt.js';
import { confirmAddress, confirmIdentifiers } from './confirm-profile.js';
import { warnOfSecret } from './secret-options.js';
import { addValueOptions, patchOf, type ValueOptions } from './value-options.js';

export const declareSet = command({
  name: 'set',
  common: ['confirm'],
  summary: 'change values of a profile',
  takes: (command) =>
    addValueOptions(command.argument('<name>', 'the profile')).option(
      '--no-allow-http',
      'disallow plain HTTP to another machine',
    ),
  action: async ({ context, io, options }: Invocation<ValueOptions>, name: string) => {
    const { profiles } = context;
    const current = await profiles.get(name);
    const patch = await patchOf(context, options, current);
    if (Object.keys(patch).length === 0) {
      throw new InvalidInputError('nothing to change', {
        hint: 'The options are listed by:',
        commands: ['userinfo profile set --help'],
      });
    }
    await confirmIdentifiers(context, patch, options.yes);
    const { environment = current.environment, base_url = current.base_url } = patch;
    if (environment !== current.environment || base_url !== current.base_url)
      await confirmAddress(context, { name, environment, base_url }, options.yes);
    if (current.environment === 'production' && environment === 'test') {
      const effect = 'becomes a test profile: writes with it need no confirmation';
      const question = `Profile ${describeProfile(current)} ${effect}. Change it?`;
      await confirm(context, question, options.yes);
    }
    const list = await profiles.change((before) => updateProfile(before, name, patch));
    const changed = list.profiles.get(name);
    if (changed === undefined) return;
    await printMessage(io, `changed ${describeProfile(changed)}`);
    if (patch.secret !== undefined) await warnOfSecret(context, changed);
  },
});
