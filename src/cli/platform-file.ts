// Apart from deployment.ts: only --platform and its variable load it.
import { type Platform, parsePlatform } from '../platform/platform.js';
import { usesModule } from '../platform/signing-source.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteWhereNeeded } from '../support/shell.js';
import type { CliContext } from './context.js';
import { inputName, readJson } from './input.js';

/** @throws InvalidInputError for a file that cannot be read, or a field that is not valid */
export async function readPlatform(context: CliContext, file: string): Promise<Platform> {
  return parsePlatform(await readJson(context, file), inputName(file));
}

/**
 * Returns the platform of a file if it runs no code. A profile alone does: its file is its owner's.
 *
 * @throws InvalidInputError for a module that signs, or a header that is the output of a command
 */
export function refuseCode(platform: Platform, file: string): Platform {
  const { signing, headers } = platform;
  const isCommand = Object.values(headers).some(
    (source) => typeof source === 'object' && 'command' in source,
  );
  if (!usesModule(signing) && !isCommand) return platform;
  const what = isCommand ? 'a command that prints a header' : 'a signing module';
  throw new InvalidInputError(`${inputName(file)} names ${what}, which only a profile runs`, {
    sent: 'nothing',
    hint: 'Store it in a profile, such as shop:',
    commands: [`userinfo profile set shop --platform ${quoteWhereNeeded(file)}`],
  });
}
