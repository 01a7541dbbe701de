import { quoteWord } from '../../support/shell.js';
import { type CommandNode, formatValues, type ValueOption, valueOptions } from './command-tree.js';

/** Possible words, each with its description. */
export type DescribedWords = readonly (readonly [word: string, summary: string])[];

/**
 * Shell functions for bash and zsh: `_userinfo_command` lists what can follow a command, `_userinfo_option` the
 * values of an option. `assign` formats the assignment of words to a variable.
 */
export function caseFunctions(
  tree: readonly CommandNode[],
  assign: (variable: string, words: DescribedWords) => string,
): string {
  return `# What can follow the command $1: commands, options, and what its arguments can be.
_userinfo_command() {
  case $1 in
${tree.map((node) => commandCase(node, assign)).join('\n')}
  esac
}

# What the option $2 of the command $1 can be given; false where it takes nothing.
_userinfo_option() {
  case "$1 $2" in
${valueOptions(tree).map(optionCase).join('\n')}
    (*) return 1 ;;
  esac
}
`;
}

function commandCase(
  { path, commands, options, arguments: places, repeats }: CommandNode,
  assign: (variable: string, words: DescribedWords) => string,
): string {
  const flags = options.flatMap((option) => option.flags.map((flag) => [flag, option.summary] as const));
  return `    (${quoteWord(path)})
      ${assign(
        'subcommands',
        commands.map(({ name, summary }) => [name, summary]),
      )}
      ${assign('flags', flags)}
      places=(${places.map((values) => quoteWord(formatValues(values))).join(' ')})
      repeats=${repeats ? 1 : ''}
      ;;`;
}

function optionCase({ path, flags, value }: ValueOption): string {
  const patterns = flags.map((flag) => (path === null ? `*' ${flag}'` : quoteWord(`${path} ${flag}`)));
  return `    (${patterns.join(' | ')}) values=${quoteWord(formatValues(value))} ;;`;
}
