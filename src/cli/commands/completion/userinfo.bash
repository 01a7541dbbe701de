_userinfo() {
  local cur=${COMP_WORDS[COMP_CWORD]} found word
  found=$(userinfo __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  if [[ $cur == '=' ]]; then cur=''; fi # bash splits --option=value in three
  if [[ $found == :files ]]; then
    found=$(compgen -f -- "$cur")
    compopt -o filenames 2> /dev/null
  fi
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ -n $word ]]; then COMPREPLY+=("$word"); fi
  done <<< "$found"
}
complete -F _userinfo userinfo
