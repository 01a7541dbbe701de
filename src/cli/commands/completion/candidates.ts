// The TAB key loads this without the program.
import { readFileSync } from 'node:fs';
import { profileOutline } from '../../profile-outline.js';

/**
 * Candidates for an argument or the value of an option: words, words separated by commas, or what
 * this machine has.
 */
export type Values =
  | readonly string[]
  | { readonly list: readonly string[] }
  | 'profiles'
  | 'files'
  | 'text';

/** A command, as completion needs it. */
export interface CommandNode {
  readonly summary: string;
  readonly commands: Readonly<Record<string, CommandNode>>;
  /**
   * By flag, such as `-p`; without `values` it takes none. Those of the program apply to every
   * command.
   */
  readonly options: Readonly<
    Record<string, { readonly summary: string; readonly values?: Values }>
  >;
  readonly arguments: readonly Values[];
  /** Whether the last argument is variadic. */
  readonly repeats: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The table of the built program, which scripts/bundle.mjs writes. */
export function builtTable(): CommandNode {
  return JSON.parse(readFileSync(new URL('./completion.json', import.meta.url), 'utf8'));
}

/**
 * The candidates for the last of `words`, which follow `userinfo` on a command line: one per line,
 * with a tab and its description if it has one; `:files` has the shell complete file names. bash
 * splits `--option=value` in three words.
 */
export function candidates(
  table: CommandNode,
  words: readonly string[],
  env: Environment,
): string[] {
  const last = words.at(-1) ?? '';
  const { node, option, isEnded, argumentCount } = findPosition(table, words.slice(0, -1));
  if (option !== undefined) return valueLines(option, last === '=' ? '' : last, env);
  if (!isEnded && last.startsWith('-')) return optionLines(table, node, last, env);
  const lines = valueLines(argumentValues(node, argumentCount), last, env);
  if (argumentCount > 0) return lines;
  return [...described(node.commands, last), ...lines];
}

/** Where a command line has come to. */
interface Position {
  readonly node: CommandNode;
  /** The values of an option whose value is next. */
  readonly option: Values | undefined;
  /** Whether there was `--`. */
  readonly isEnded: boolean;
  /** The number of arguments of the command that are complete. */
  readonly argumentCount: number;
}

function findPosition(table: CommandNode, words: readonly string[]): Position {
  let node = table;
  let option: Values | undefined;
  let isEnded = false;
  let argumentCount = 0;
  for (const word of words) {
    if (word === '=') continue;
    const isFlag = !isEnded && word.startsWith('-');
    if (option !== undefined) option = undefined;
    else if (isFlag && word === '--') isEnded = true;
    else if (isFlag) option = optionValues(table, node, word);
    else if (!isEnded && argumentCount === 0 && Object.hasOwn(node.commands, word))
      node = node.commands[word] ?? node;
    else argumentCount += 1;
  }
  return { node, option, isEnded, argumentCount };
}

function optionValues(table: CommandNode, node: CommandNode, flag: string): Values | undefined {
  return (node.options[flag] ?? table.options[flag])?.values;
}

function argumentValues(node: CommandNode, argumentCount: number): Values | undefined {
  if (!node.repeats) return node.arguments[argumentCount];
  return node.arguments[Math.min(argumentCount, node.arguments.length - 1)];
}

/** The candidates for a word that begins with a hyphen: options, or values after `--option=`. */
function optionLines(
  table: CommandNode,
  node: CommandNode,
  typed: string,
  env: Environment,
): string[] {
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (flag === undefined || value === undefined)
    return described({ ...node.options, ...table.options }, typed);
  const lines = valueLines(optionValues(table, node, flag), value, env);
  return lines.map((line) => (line === filesLine ? line : `${flag}=${line}`));
}

const filesLine = ':files';

function described(
  entries: Readonly<Record<string, { readonly summary: string }>>,
  typed: string,
): string[] {
  const matches = Object.entries(entries).filter(([word]) => word.startsWith(typed));
  return matches.map(([word, { summary }]) => `${word}\t${summary}`);
}

function valueLines(values: Values | undefined, typed: string, env: Environment): string[] {
  if (values === undefined || values === 'text') return [];
  if (values === 'files') return [filesLine];
  if (values === 'profiles')
    return profileOutline(env).names.filter((name) => name.startsWith(typed));
  if (!('list' in values)) return wordLines(values, '', typed, env);
  return wordLines(values.list, typed.slice(0, typed.lastIndexOf(',') + 1), typed, env);
}

/** Words behind the part of a list that is typed already; names of the chat platform as it has them. */
function wordLines(
  words: readonly string[],
  before: string,
  typed: string,
  env: Environment,
): string[] {
  const named = (word: string) =>
    word.startsWith('chat_') ? profileOutline(env).chatPrefix + word.slice(5) : word;
  return words.map((word) => before + named(word)).filter((line) => line.startsWith(typed));
}
