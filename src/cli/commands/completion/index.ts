import { Argument } from 'commander';
import { command, type Declare } from '../../command.js';
import { write } from '../../io.js';

/** Each passes the words typed so far to `userinfo __complete`, which cli/main answers from one table. */
const scripts = {
  bash: `_userinfo() {
  local cur=\${COMP_WORDS[COMP_CWORD]} found word
  found=$(userinfo __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  if [[ $cur == '=' ]]; then cur=''; fi # bash splits --option=value in three
  if [[ $found == :files ]]; then
    found=$(compgen -f -- "$cur")
    compopt -o filenames 2> /dev/null
  fi
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [[ -n $word ]]; then COMPREPLY+=("$word"); fi
  done <<< "$found"
}
complete -F _userinfo userinfo
`,
  zsh: `#compdef userinfo
_userinfo() {
  local -a found
  found=("\${(@f)$(userinfo __complete "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ $found[1] == :files ]]; then
    compset -P '--*='
    _files
  elif [[ -n $found[1] ]]; then
    found=("\${(@)found//$'\\t'/:}")
    _describe userinfo found
  fi
}
if [[ $funcstack[1] == _userinfo ]]; then _userinfo "$@"; else compdef _userinfo userinfo; fi
`,
  fish: `function __userinfo_complete
    set -l current (commandline -ct)
    set -l found (userinfo __complete (commandline -opc)[2..] "$current" 2> /dev/null)
    if test "$found[1]" = :files
        set -l parts (string match -r '^((?:--[^=]+=)?)(.*)$' -- "$current")
        printf '%s\\n' $parts[2](__fish_complete_path $parts[3])
    else
        printf '%s\\n' $found
    end
end
complete -c userinfo -f -a '(__userinfo_complete)'
`,
} as const;

const declareScript = command({
  name: 'completion',
  common: [],
  summary: 'print a shell completion script',
  description:
    'Print a script that completes commands, options, option values, profile names and names of information.',
  examples: [
    ['userinfo completion bash > userinfo.bash', 'source it in ~/.bashrc; zsh likewise'],
    ['userinfo completion fish > userinfo.fish', 'put it in ~/.config/fish/completions'],
  ],
  takes: (command) => command.addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts))),
  run: ({ io }, shell: keyof typeof scripts) => write(io.stdout, scripts[shell]),
});

export const declareCompletion: Declare = (program, context) => {
  program
    .command('completion-table', { hidden: true })
    .description('Print the table of all completions, for scripts/bundle.mjs.')
    .action(async () => {
      const { completionTable } = await import('./table.late.js');
      await write(context.io.stdout, JSON.stringify(completionTable(program)));
    });
  declareScript(program, context);
};
