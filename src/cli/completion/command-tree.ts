import type { Argument, Command, Option } from 'commander';
import { specialInfoNames } from '../../protocol/info-names.js';
import { resultCodes } from '../../protocol/result-codes.js';
import { presets } from '../../signing/presets.js';
import { helpTopics } from '../help-topics/index.js';

export interface CompletedOption {
  /** Such as `-p` and `--profile`. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** `null` for an option that takes none. */
  readonly value: Values | null;
}

/** A command, as far as completing its command line goes. */
export interface CommandNode {
  /** The words that lead to it, such as `admin code issue`; empty for the program. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** Its own, and those that every command takes. */
  readonly options: readonly CompletedOption[];
  /** What each of its arguments can be. */
  readonly arguments: readonly Values[];
  /** Whether the last of them may come again and again. */
  readonly repeats: boolean;
}

/** An option that takes a value, of one command, or of all: `path` is then `null`. */
export interface ValueOption {
  readonly path: string | null;
  readonly flags: readonly string[];
  readonly value: Values;
}

/** The options that take a value, those that every command takes once. */
export function valueOptions(tree: readonly CommandNode[]): ValueOption[] {
  return ownOptions(tree).flatMap(({ path, option: { flags, value } }) =>
    value === null ? [] : [{ path, flags, value }],
  );
}

/** Every option with the command that it is for; `path` is `null` for those that every command takes. */
export function ownOptions(
  tree: readonly CommandNode[],
): { readonly path: string | null; readonly option: CompletedOption }[] {
  const common = new Set(tree[0]?.options.map(({ flags }) => flags.join()));
  return tree.flatMap(({ path, options }) =>
    options
      .filter(({ flags }) => path === '' || !common.has(flags.join()))
      .map((option) => ({ path: path === '' ? null : path, option })),
  );
}

/** The whole tree of commands, each before those inside it. Hidden commands and options are left out. */
export function commandTree(program: Command): CommandNode[] {
  const common = visibleOptions(program).filter(({ long }) => long !== '--version' && long !== '--help');
  const names = visibleCommands(program).map((command) => command.name());
  return nodesBelow(program, [], common, names);
}

function nodesBelow(
  command: Command,
  path: readonly string[],
  common: readonly Option[],
  names: readonly string[],
): CommandNode[] {
  // Every group has a help command, which says what --help does.
  const commands = visibleCommands(command).filter((one) => path.length === 0 || one.name() !== 'help');
  const own = visibleOptions(command);
  const node = {
    path: path.join(' '),
    commands: commands.map((one) => ({ name: one.name(), summary: one.summary() || one.description() })),
    options: (path.length === 0 ? own : [...own, ...common]).map(completedOption),
    arguments: command.registeredArguments.map((argument) => argumentValues(argument, path, names)),
    repeats: command.registeredArguments.at(-1)?.variadic ?? false,
  };
  return [node, ...commands.flatMap((one) => nodesBelow(one, [...path, one.name()], common, names))];
}

function visibleCommands(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function visibleOptions(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

function completedOption(option: Option): CompletedOption {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  const value = option.required || option.optional ? optionValues(option) : null;
  return { flags, summary: option.description, value };
}

/** What can stand in one place of a command line. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Several of the words, separated by commas. */
  | { readonly kind: 'list'; readonly words: readonly string[] }
  /** The names of the profiles that there are when it is asked. */
  | { readonly kind: 'profiles' }
  | { readonly kind: 'files' }
  /** Something that cannot be known. */
  | { readonly kind: 'text' };

const profiles: Values = { kind: 'profiles' };
const files: Values = { kind: 'files' };
const text: Values = { kind: 'text' };
const infoNames: Values = { kind: 'list', words: Object.keys(specialInfoNames) };
const presetNames = presets.map(({ name }) => name);

/** The options whose values are known, beside those that name their choices, or a file. */
const byFlag: Readonly<Record<string, Values>> = {
  '--profile': profiles,
  '--info-names': infoNames,
  '--names': infoNames,
  '--recipe': { kind: 'words', words: presetNames },
  '--signing-preset': { kind: 'list', words: presetNames },
};

export function optionValues({ long, flags, argChoices }: Option): Values {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  return byFlag[long ?? ''] ?? (/[<[](?:file|folder)(?:\|[a-z]+)?[>\]]/.test(flags) ? files : text);
}

/** The arguments whose values are known, by command and name, likewise. */
const byPlace: Readonly<Record<string, Values>> = {
  'read names': infoNames,
  'sign explain read names': infoNames,
  'sign presets name': { kind: 'words', words: presetNames },
  'explain code': { kind: 'words', words: resultCodes.map(String) },
};

/** `path` leads to the command: `['profile', 'use']`; `commands` are the names of the first words there are. */
export function argumentValues(
  argument: Argument,
  path: readonly string[],
  commands: readonly string[],
): Values {
  const name = argument.name();
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  if (path[0] === 'help')
    return { kind: 'words', words: [...helpTopics.map((topic) => topic.name), ...commands] };
  const isOldProfile = path[0] === 'profile' && path[1] !== 'add' && name === 'name';
  if (isOldProfile) return profiles;
  return byPlace[[...path, name].join(' ')] ?? (name === 'file' ? files : text);
}

/** One text for what can stand in a place, as the scripts know it: they tell the kinds by the first character. */
export function formatValues(values: Values): string {
  switch (values.kind) {
    case 'words':
      return values.words.join(' ');
    case 'list':
      return `,${values.words.join(' ')}`;
    default:
      return `@${values.kind}`;
  }
}
