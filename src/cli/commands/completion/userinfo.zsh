#compdef userinfo
_userinfo() {
  local -a found
  found=("${(@f)$(userinfo __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ $found[1] == :files ]]; then
    compset -P '--*='
    _files
  elif [[ -n $found[1] ]]; then
    found=("${(@)found//$'\t'/:}")
    _describe userinfo found
  fi
}
if [[ $funcstack[1] == _userinfo ]]; then _userinfo "$@"; else compdef _userinfo userinfo; fi
