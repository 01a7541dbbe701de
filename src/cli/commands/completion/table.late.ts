import type { Argument, Command, Option } from 'commander';
import { specialInfoNames } from '../../../core/contract/info-names.js';
import { resultCodes } from '../../../core/contract/result-codes.js';
import { presets } from '../../../core/signing/presets.js';
import { helpTopics } from '../help/index.js';
import type { CommandNode, Values } from './candidates.js';

type ByName = Readonly<Record<string, Values>>;

/** The program as completion needs it, without hidden commands and options. */
export function completionTable(program: Command): CommandNode {
  const commands = visible(program).commands.map((one) => one.name());
  return nodeOf(program, '', {
    ...byArgument,
    'help words': [...Object.keys(helpTopics), ...commands],
  });
}

function nodeOf(command: Command, path: string, known: ByName): CommandNode {
  const { commands, options } = visible(command);
  const inner = commands.filter((one) => path === '' || one.name() !== 'help'); // duplicates --help
  const nodes = inner.map((one) => [
    one.name(),
    nodeOf(one, `${path} ${one.name()}`.trim(), known),
  ]);
  const flags = options.flatMap((option) =>
    [option.short, option.long]
      .filter((flag) => flag !== undefined)
      .map((flag) => [flag, entryOf(option)]),
  );
  return {
    summary: command.summary() || command.description(),
    commands: Object.fromEntries(nodes),
    options: Object.fromEntries(flags),
    arguments: command.registeredArguments.map((one) => argumentValues(one, path, known)),
    repeats: command.registeredArguments.at(-1)?.variadic ?? false,
  };
}

function visible(command: Command): { readonly commands: Command[]; readonly options: Option[] } {
  const help = command.createHelp();
  return { commands: help.visibleCommands(command), options: help.visibleOptions(command) };
}

const infoNames: Values = { list: Object.keys(specialInfoNames()) };
const presetNames = presets.map(({ name }) => name);

/** The values of options that neither list their choices nor name a file. */
const byFlag: ByName = {
  '--profile': 'profiles',
  '--like': 'profiles',
  '--names': infoNames,
  '--recipe': presetNames,
  '--signing-preset': { list: presetNames },
};

function entryOf({ long, flags, required, optional, argChoices, description }: Option) {
  const isFile = /[<[](?:file|folder)(?:\|[a-z]+)?[>\]]/.test(flags);
  const values = argChoices ?? byFlag[long ?? ''] ?? (isFile ? 'files' : 'text');
  return { summary: description, ...((required || optional) && { values }) };
}

/** The values of arguments, by command and argument. */
const byArgument: ByName = {
  'read names': infoNames,
  'bulk read names': infoNames,
  'sign explain read names': infoNames,
  'sign presets name': presetNames,
  'explain code': resultCodes.map(String),
  'profile add name': 'text',
};

function argumentValues(argument: Argument, path: string, known: ByName): Values {
  const name = argument.name();
  const isProfile = path.startsWith('profile ') && name === 'name';
  const usual = isProfile ? 'profiles' : name === 'file' ? 'files' : 'text';
  return argument.argChoices ?? known[`${path} ${name}`] ?? usual;
}
