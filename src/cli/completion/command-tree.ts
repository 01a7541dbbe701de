import type { Argument, Command, Option } from 'commander';
import { specialInfoNames } from '../../protocol/info-names.js';
import { resultCodes } from '../../protocol/result-codes.js';
import { presets } from '../../signing/presets.js';
import { helpTopics } from '../help-topics/index.js';

export interface CompletedOption {
  /** Such as `-p` and `--profile`. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** `null` for an option without a value. */
  readonly value: Values | null;
}

/** A command, as completion needs it. */
export interface CommandNode {
  /** The path to it, such as `admin code issue`; empty for the program. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** Its own options and the common ones. */
  readonly options: readonly CompletedOption[];
  /** The possible values of each argument. */
  readonly arguments: readonly Values[];
  /** Whether the last argument is variadic. */
  readonly repeats: boolean;
}

/** An option with a value; `path` is that of its command, `null` for a common option. */
export interface ValueOption {
  readonly path: string | null;
  readonly flags: readonly string[];
  readonly value: Values;
}

/** The options with a value; each common option once. */
export function valueOptions(tree: readonly CommandNode[]): ValueOption[] {
  return ownOptions(tree).flatMap(({ path, option: { flags, value } }) =>
    value === null ? [] : [{ path, flags, value }],
  );
}

/** Every option with the path of its command; `null` for common options, which are listed once. */
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

/** All commands, each before its subcommands, without hidden commands and options. */
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
  // Every group has a help command, which duplicates --help.
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

/** The possible values of an option or an argument. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** One or more of the words, separated by commas. */
  | { readonly kind: 'list'; readonly words: readonly string[] }
  /** The names of existing profiles, read at completion time. */
  | { readonly kind: 'profiles' }
  | { readonly kind: 'files' }
  /** Free text. */
  | { readonly kind: 'text' };

const profiles: Values = { kind: 'profiles' };
const files: Values = { kind: 'files' };
const text: Values = { kind: 'text' };
const infoNames: Values = { kind: 'list', words: Object.keys(specialInfoNames) };
const presetNames = presets.map(({ name }) => name);

/** The values of options that neither list their choices nor name a file. */
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

/** The values of arguments, by command and argument name. */
const byPlace: Readonly<Record<string, Values>> = {
  'read names': infoNames,
  'sign explain read names': infoNames,
  'sign presets name': { kind: 'words', words: presetNames },
  'explain code': { kind: 'words', words: resultCodes.map(String) },
};

/**
 * `path` is that of the command, such as `['profile', 'use']`; `commands` are the names of the top-level commands.
 */
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

/** Values in the format of the scripts, which tell the kinds apart by the first character. */
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
