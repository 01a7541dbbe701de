import type { Command } from 'commander';
import { InvalidInputError } from '../../core/contract/errors.js';
import { cutNote } from '../../core/profiles/profile.js';
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
  for (const name of idOptions) await cutInOption(io, command, name);
  for (const [index, argument] of command.registeredArguments.entries()) {
    const value: unknown = command.processedArgs[index];
    if (idArguments.includes(argument.name()) && typeof value === 'string')
      command.processedArgs[index] = await cutSpaceAround(io, `the ${argument.name()}`, value);
  }
}

/** Cuts the white space around the text of an option, or the texts of one that is repeated. */
async function cutInOption(io: Io, command: Command, name: string): Promise<void> {
  const owner = ownerOf(command, name);
  const flag = owner?.options.find((option) => option.attributeName() === name)?.long;
  if (owner === undefined || flag == null) return;
  const cut = (text: string) => cutSpaceAround(io, flag, text);
  const value: unknown = owner.getOptionValue(name);
  const source = owner.getOptionValueSource(name);
  if (Array.isArray(value)) {
    const texts = await Promise.all(value.map((text) => cut(String(text))));
    owner.setOptionValueWithSource(name, texts, source);
  } else {
    owner.setOptionValueWithSource(name, await cut(String(value)), source);
  }
}

/** The command, or one around it, that has a value of the option. */
function ownerOf(command: Command | null, name: string): Command | undefined {
  if (command === null) return undefined;
  return command.getOptionValue(name) === undefined ? ownerOf(command.parent, name) : command;
}
