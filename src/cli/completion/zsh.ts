import { quoteWord } from '../../support/shell.js';
import { caseFunctions, type DescribedWords } from './case-functions.js';
import type { CommandNode } from './command-tree.js';

/** A completion script for zsh, to be sourced, or saved as `_userinfo` in a folder of `fpath`. */
export function zshScript(tree: readonly CommandNode[]): string {
  return `#compdef userinfo
# Completion of userinfo for zsh. To use it, after compinit: eval "$(userinfo completion zsh)"

${caseFunctions(tree, assignDescribed)}
${completionFunction}`;
}

/** In the format of `_describe`. */
function assignDescribed(variable: string, words: DescribedWords): string {
  return `${variable}=(${words.map(([word, summary]) => quoteWord(`${word}:${summary}`)).join(' ')})`;
}

const completionFunction = `_userinfo() {
  local -a subcommands flags places
  local repeats values='' option='' ended='' line='' word
  integer place=1 i
  _userinfo_command ''
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $option ]]; then
      option=''
    elif [[ -n $ended ]]; then
      place+=1
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == --*=* ]]; then
      continue
    elif [[ $word == -* ]]; then
      if _userinfo_option "$line" "$word"; then option=$word; fi
    elif ((\${subcommands[(I)\${(b)word}:*]})); then
      line=\${line:+$line }$word place=1
      _userinfo_command "$line"
    else
      place+=1
    fi
  done
  if [[ -z $option && -z $ended && $PREFIX == --*=* ]]; then
    option=\${PREFIX%%=*}
    compset -P '*='
  fi

  if [[ -n $option ]]; then
    _userinfo_option "$line" "$option"
  elif [[ $PREFIX == -* && -z $ended ]]; then
    _describe -o option flags
    return
  else
    if ((place == 1 && $#subcommands)); then _describe command subcommands; fi
    if [[ -n $repeats ]] && ((place > $#places)); then place=$#places; fi
    values=\${places[place]-@text}
  fi
  case $values in
    (@profiles) compadd -- \${(f)"$(userinfo __complete profiles 2> /dev/null)"} ;;
    (@files) _files ;;
    (@text) ;;
    (,*)
      compset -P '*,'
      compadd -S '' -- \${=values#,}
      ;;
    (*) compadd -- \${=values} ;;
  esac
}

if [[ $funcstack[1] == _userinfo ]]; then _userinfo "$@"; else compdef _userinfo userinfo; fi
`;
