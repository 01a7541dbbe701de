import type { CommandNode } from './command-tree.js';
import { formatValues } from './values.js';

/** A completion script for PowerShell 5.1 and newer. */
export function powershellScript(tree: readonly CommandNode[]): string {
  return `# Completion of userinfo for PowerShell. To use it: userinfo completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName userinfo -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What can follow each command: commands, options, and what options and arguments can be.
    $nodes = @{
${tree.map(nodeEntry).join('\n')}
    }

${walker}}
`;
}

function nodeEntry({ path, commands, options, arguments: places, repeats }: CommandNode): string {
  const flags = options.flatMap(({ flags, summary, value }) =>
    flags.map((flag) => list([flag, summary, value === null ? '' : formatValues(value)])),
  );
  return `        ${quote(path)} = @{
            Commands = @(${commands.map(({ name, summary }) => `,${list([name, summary])}`).join('; ')})
            Options = @(${flags.map((flag) => `,${flag}`).join('; ')})
            Places = ${list(places.map(formatValues))}
            Repeats = ${repeats ? '$true' : '$false'}
        }`;
}

function list(texts: readonly string[]): string {
  return `@(${texts.map(quote).join(', ')})`;
}

/** A text as one word of PowerShell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const walker = `    $line = ''
    $node = $nodes['']
    $place = 0
    $option = $null
    $ended = $false
    $before = $commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition }
    foreach ($element in $before) {
        $word = $element.ToString().Trim("'", '"')
        $known = $node.Options | Where-Object { $_[0] -ceq $word } | Select-Object -First 1
        if ($null -ne $option) { $option = $null }
        elseif ($ended) { $place++ }
        elseif ($word -ceq '--') { $ended = $true }
        elseif ($word.StartsWith('-')) { if ($known -and $known[2]) { $option = $known } }
        elseif ($node.Commands | Where-Object { $_[0] -ceq $word }) {
            $line = "$line $word".Trim()
            $node = $nodes[$line]
            $place = 0
        }
        else { $place++ }
    }

    $values = ''
    $found = @()
    $prefix = ''
    if ($null -ne $option) { $values = $option[2] }
    elseif ($wordToComplete.StartsWith('-') -and -not $ended) { $found = $node.Options }
    else {
        if ($place -eq 0) { $found = $node.Commands }
        if ($node.Repeats -and $place -ge $node.Places.Count) { $place = $node.Places.Count - 1 }
        if ($place -lt $node.Places.Count) { $values = $node.Places[$place] }
    }
    if ($values -eq '@files') { return }
    if ($values -eq '@profiles') { $words = @(userinfo __complete profiles 2> $null) }
    elseif ($values -eq '@text' -or $values -eq '') { $words = @() }
    else { $words = $values.TrimStart(',').Split(' ') }
    if ($values.StartsWith(',') -and $wordToComplete.Contains(',')) {
        $prefix = $wordToComplete.Substring(0, $wordToComplete.LastIndexOf(',') + 1)
    }
    $found = @($found) + @($words | ForEach-Object { , @("$prefix$_", $_) })
    $found | Where-Object { $_ -and $_[0].StartsWith($wordToComplete) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
    }
`;
