import type { Argument, Command, Option } from 'commander';
import { specialInfoNames } from '../../../core/contract/info-names.js';
import { resultCodes } from '../../../core/contract/result-codes.js';
import { presets } from '../../../core/signing/presets.js';
import { helpTopics } from '../help/index.js';
import type { CommandNode, Values } from './candidates.js';

type ByName = Readonly<Record<string, Values>>;

/** The program as completion needs it, without hidden commands and options. */
export function completionTable(program: Command): CommandNode {
  const commands = visible(program).commands.map((command) => command.name());
  return nodeOf(program, '', {
    ...byArgument,
    'help words': [...Object.keys(helpTopics), ...commands],
  });
}

/** `path` is the words of the command without `userinfo`; `values` those of arguments. */
function nodeOf(command: Command, path: string, values: ByName): CommandNode {
  const { commands, options } = visible(command);
  const nodes: Record<string, CommandNode> = {};
  for (const inner of commands) {
    const name = inner.name();
    // Inside a group it duplicates --help.
    if (name === 'help' && path !== '') continue;
    nodes[name] = nodeOf(inner, `${path} ${name}`.trim(), values);
  }
  const entries: Record<string, ReturnType<typeof entryOf>> = {};
  for (const option of options) {
    for (const flag of [option.short, option.long])
      if (flag !== undefined) entries[flag] = entryOf(option);
  }
  return {
    summary: command.summary() || command.description(),
    commands: nodes,
    options: entries,
    arguments: command.registeredArguments.map((argument) =>
      argumentValues(argument, path, values),
    ),
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
  if (!required && !optional) return { summary: description };
  const isFile = /[<[](?:file|folder)(?:\|[a-z]+)?[>\]]/.test(flags);
  const values = argChoices ?? byFlag[long ?? ''] ?? (isFile ? 'files' : 'text');
  return { summary: description, values };
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

function argumentValues(argument: Argument, path: string, byName: ByName): Values {
  const name = argument.name();
  return argument.argChoices ?? byName[`${path} ${name}`] ?? usualValues(path, name);
}

function usualValues(path: string, argument: string): Values {
  if (path.startsWith('profile ') && argument === 'name') return 'profiles';
  return argument === 'file' ? 'files' : 'text';
}
