import { type CommandNode, ownOptions, type Values, valueOptions } from './command-tree.js';

/** A completion script for fish, to be saved as `userinfo.fish` in a completions folder. */
export function fishScript(tree: readonly CommandNode[]): string {
  const flags = valueOptions(tree).flatMap((option) => option.flags);
  const paths = tree.filter(({ path }) => path !== '').map(({ path }) => path);
  const lines = [...tree.flatMap(commandLines), ...tree.flatMap(argumentLines), ...optionLines(tree)];
  return `# Completion of userinfo for fish. To use it:
# userinfo completion fish > ~/.config/fish/completions/userinfo.fish

# Whether the command line so far is the command $argv[1], and, where $argv[2] is given, that many arguments: with a
# + behind the number, or more.
function __userinfo_at
    set -l line
    set -l place 0
    set -l skip false
    for word in (commandline -opc)[2..]
        if test $skip = true
            set skip false
        else if string match -q -- '-*' $word
            contains -- $word ${[...new Set(flags)].join(' ')}; and set skip true
        else if contains -- (string trim "$line $word") ${paths.map(quote).join(' ')}
            set line (string trim "$line $word")
        else
            set place (math $place + 1)
        end
    end
    test "$line" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
        case '*+'
            test $place -ge (string replace + '' $argv[2])
        case '*'
            test $place -eq $argv[2]
    end
end

# Several of $argv, separated by commas.
function __userinfo_list
    set -l before (commandline -ct | string match -r '[^=]*,')
    printf '%s\\n' "$before"$argv
end

complete -c userinfo -f
${lines.map((line) => `complete -c userinfo ${line}\n`).join('')}`;
}

function commandLines({ path, commands }: CommandNode): string[] {
  return commands.map(({ name, summary }) => `${at(path, '0')} -a ${quote(name)} -d ${quote(summary)}`);
}

function argumentLines({ path, arguments: places, repeats }: CommandNode): string[] {
  return places.flatMap((values, index) => {
    const place = repeats && index === places.length - 1 ? `${index}+` : String(index);
    return values.kind === 'text' ? [] : [`${at(path, place)} ${valueWords(values)}`];
  });
}

function optionLines(tree: readonly CommandNode[]): string[] {
  return ownOptions(tree).map(({ path, option: { flags, value, summary } }) => {
    const names = flags.map((flag) =>
      flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
    );
    const takes = value === null ? [] : [value.kind === 'files' ? '-r' : '-x', valueWords(value)];
    const words = [...(path === null ? [] : [at(path)]), ...names, ...takes, `-d ${quote(summary)}`];
    return words.filter((word) => word !== '').join(' ');
  });
}

function at(path: string, place = ''): string {
  return `-n ${quote(`__userinfo_at ${quote(path)} ${place}`.trim())}`;
}

function valueWords(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `-a ${quote(values.words.join(' '))}`;
    case 'list':
      return `-a ${quote(`(__userinfo_list ${values.words.join(' ')})`)}`;
    case 'profiles':
      return `-a '(userinfo __complete profiles)'`;
    case 'files':
      return '-F';
    case 'text':
      return '';
  }
}

/** Quotes a text as one word of fish. */
function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
