import { quoteWord } from '../../support/shell.js';
import { caseFunctions, type DescribedWords } from './case-functions.js';
import type { CommandNode } from './command-tree.js';

/** A completion script for bash 3.2 and newer. */
export function bashScript(tree: readonly CommandNode[]): string {
  return `# Completion of userinfo for bash. To use it: eval "$(userinfo completion bash)"

${caseFunctions(tree, assignWords)}
${completionFunction}`;
}

function assignWords(variable: string, words: DescribedWords): string {
  return `${variable}=${quoteWord(words.map(([word]) => word).join(' '))}`;
}

const completionFunction = `_userinfo() {
  local IFS=$' \\t\\n' cur=\${COMP_WORDS[COMP_CWORD]} path='' option='' ended='' place=0
  local subcommands flags places repeats values='' words='' prefix='' word i
  _userinfo_command ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then # bash splits --option=value in three
      continue
    elif [[ -n $option ]]; then
      option=''
    elif [[ -n $ended ]]; then
      place=$((place + 1))
    elif [[ $word == '--' ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      if _userinfo_option "$path" "$word"; then option=$word; fi
    elif [[ " $subcommands " == *" $word "* ]]; then
      path=\${path:+$path }$word place=0
      _userinfo_command "$path"
    else
      place=$((place + 1))
    fi
  done
  if [[ $cur == '=' ]]; then cur=''; fi

  if [[ -n $option ]]; then
    _userinfo_option "$path" "$option"
  elif [[ $cur == -* && -z $ended ]]; then
    values=$flags
  else
    if ((place == 0)); then words=$subcommands; fi
    if [[ -n $repeats ]] && ((place >= \${#places[@]})); then place=$((\${#places[@]} - 1)); fi
    values=\${places[place]-@text}
  fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    case $values in
      @profiles) compgen -W "$(userinfo __complete profiles 2> /dev/null)" -- "$cur" ;;
      @files) compgen -f -- "$cur" ;;
      @text) ;;
      ,*)
        if [[ $cur == *,* ]]; then prefix=\${cur%,*},; fi
        compgen -P "$prefix" -W "\${values#,}" -- "\${cur##*,}"
        ;;
      *) compgen -W "$values" -- "$cur" ;;
    esac
    compgen -W "$words" -- "$cur"
  )
  if [[ $values == @files ]]; then compopt -o filenames 2> /dev/null; fi
}
complete -F _userinfo userinfo
`;
