// Apart from flags-and-environment.ts: only a platform file that a flag or a variable names needs it.
import type { Platform } from '../platform/platform.js';
import { usesModule } from '../platform/signing-source.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteWhereNeeded } from '../support/shell.js';

/**
 * Returns the platform of a file, called `label`, if it runs no code. A profile alone does: its file is its owner's.
 *
 * @throws InvalidInputError for a module that signs, or a header that is the output of a command
 */
export function refuseCode(platform: Platform, file: string, label: string): Platform {
  const { signing, headers } = platform;
  const isCommand = Object.values(headers).some(
    (source) => typeof source === 'object' && 'command' in source,
  );
  if (!usesModule(signing) && !isCommand) return platform;
  const what = isCommand ? 'a command that prints a header' : 'a signing module';
  throw new InvalidInputError(`${label} names ${what}, which only a profile runs`, {
    sent: 'nothing',
    hint: 'Store it in a profile, such as shop:',
    commands: [`userinfo profile set shop --platform ${quoteWhereNeeded(file)}`],
  });
}
