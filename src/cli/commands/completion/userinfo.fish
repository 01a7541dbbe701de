function __userinfo_complete
    set -l current (commandline -ct)
    set -l found (userinfo __complete (commandline -opc)[2..] "$current" 2> /dev/null)
    if test "$found[1]" = :files
        set -l parts (string match -r '^((?:--[^=]+=)?)(.*)$' -- "$current")
        printf '%s\n' $parts[2](__fish_complete_path $parts[3])
    else
        printf '%s\n' $found
    end
end
complete -c userinfo -f -a '(__userinfo_complete)'
