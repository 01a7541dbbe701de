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
  let node = table;
  let option: Values | undefined;
  let isEnded = false;
  let place = 0;
  const valuesOf = (flag: string) => (node.options[flag] ?? table.options[flag])?.values;
  for (const word of words.slice(0, -1)) {
    if (word === '=') continue;
    const isFlag = !isEnded && word.startsWith('-');
    if (option !== undefined) option = undefined;
    else if (isFlag && word === '--') isEnded = true;
    else if (isFlag) option = valuesOf(word);
    else if (!isEnded && place === 0 && Object.hasOwn(node.commands, word))
      node = node.commands[word] ?? node;
    else place += 1;
  }
  if (option !== undefined) return valueLines(option, last === '=' ? '' : last, env);
  if (!isEnded && last.startsWith('-')) {
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
    if (flag === undefined || value === undefined)
      return described({ ...node.options, ...table.options }, last);
    const lines = valueLines(valuesOf(flag), value, env);
    return lines.map((line) => (line === filesLine ? line : `${flag}=${line}`));
  }
  const values = node.arguments[node.repeats ? Math.min(place, node.arguments.length - 1) : place];
  return [...(place === 0 ? described(node.commands, last) : []), ...valueLines(values, last, env)];
}

const filesLine = ':files';

function described(
  entries: Readonly<Record<string, { readonly summary: string }>>,
  typed: string,
): string[] {
  const found = Object.entries(entries).filter(([word]) => word.startsWith(typed));
  return found.map(([word, { summary }]) => `${word}\t${summary}`);
}

function valueLines(values: Values | undefined, typed: string, env: Environment): string[] {
  if (values === undefined || values === 'text') return [];
  if (values === 'files') return [filesLine];
  if (values === 'profiles')
    return profileOutline(env).names.filter((name) => name.startsWith(typed));
  const before = 'list' in values ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const words = 'list' in values ? values.list : values;
  const named = (word: string) =>
    word.startsWith('chat_') ? profileOutline(env).chatPrefix + word.slice(5) : word;
  return words.map((word) => before + named(word)).filter((word) => word.startsWith(typed));
}
