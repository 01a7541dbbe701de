import type { Command } from 'commander';
import { InvalidInputError } from '../../core/contract/errors.js';
import { cutNote } from '../../core/contract/unsafe-text.js';
import { type Io, printMessage } from '../io.js';

/** The options, by their attributes, and the arguments that are a code, an ID or a setting. */
const idOptions = [
  'profile',
  'baseUrl',
  'tenantCode',
  'channel',
  'appKey',
  'keyPrefix',
  'unionId',
  'scope',
  'code',
];
const idArguments = ['code'];

/**
 * A text without white space around it, which nobody types on purpose around a code, an ID or a
 * setting. Says so.
 *
 * @throws InvalidInputError if nothing is left
 */
export async function cutSpaceAround(io: Io, what: string, text: string): Promise<string> {
  const rest = text.trim();
  if (rest === text) return text;
  if (rest === '') throw new InvalidInputError(`${what} is white space alone`);
  await printMessage(io, cutNote(what));
  return rest;
}

/** Cuts the white space around codes, IDs and settings of a command line. */
export async function cutInCommandLine(io: Io, command: Command): Promise<void> {
  for (const name of idOptions) {
    const owner = ownerOf(command, name);
    const given: unknown = owner?.getOptionValue(name);
    const option = owner?.options.find((known) => known.attributeName() === name);
    if (owner === undefined || option?.long == null) continue;
    const cut = (text: string) => cutSpaceAround(io, option.long ?? name, text);
    const texts: readonly string[] = Array.isArray(given) ? given : [String(given)];
    if (texts.every((text) => text === text.trim())) continue;
    const value = Array.isArray(given)
      ? await Promise.all(given.map(cut))
      : await cut(String(given));
    owner.setOptionValueWithSource(name, value, owner.getOptionValueSource(name));
  }
  for (const [index, argument] of command.registeredArguments.entries()) {
    const given: unknown = command.processedArgs[index];
    if (idArguments.includes(argument.name()) && typeof given === 'string')
      command.processedArgs[index] = await cutSpaceAround(io, `the ${argument.name()}`, given);
  }
}

/** The command, or one around it, that has a value of the option. */
function ownerOf(command: Command | null, name: string): Command | undefined {
  if (command === null) return undefined;
  return command.getOptionValue(name) === undefined ? ownerOf(command.parent, name) : command;
}
