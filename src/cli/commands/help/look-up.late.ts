import type { Command } from 'commander';
import { quoteName } from '../../../core/contract/errors.js';
import { nearestName } from '../../../core/support/nearest-name.js';
import { fullName, UsageError } from '../../command-line/command-line.js';
import { CommonOption, helpPage } from '../../command-line/help-layout.js';

/**
 * The commands that have an option, or the place of a command inside a group, in lines.
 *
 * @throws UsageError if there is neither
 */
export function lookUp(
  program: Command,
  words: readonly string[],
  topics: readonly string[],
): string {
  const [typed = ''] = words;
  const all = [program, ...commandsBelow(program)];
  const found =
    words.length === 1 ? (optionNamed(all, typed) ?? commandsNamed(all, typed)) : undefined;
  if (found !== undefined) return found;
  const nearest = nearestName(typed, [...program.commands.map((one) => one.name()), ...topics]);
  throw new UsageError(
    `there is no command, topic or option ${quoteName(words.join(' '))}`,
    nearest === null ? 'Commands and topics are listed by:' : 'Did you mean:',
    [nearest === null ? 'userinfo --help' : `userinfo help ${nearest}`],
  );
}

function commandsBelow(command: Command): Command[] {
  const inner = command.commands.filter((one) => one.name() !== 'help');
  return inner.flatMap((one) => [one, ...commandsBelow(one)]);
}

/**
 * The meanings of the option of this name, which may be several, each with the commands that have
 * it.
 */
function optionNamed(all: readonly Command[], typed: string): string | undefined {
  const bare = typed.replace(/^-+/, '').toLowerCase();
  const meanings = new Map<string, { readonly commands: string[]; readonly see: string }>();
  for (const command of all) {
    for (const option of command.options) {
      if (option.hidden || (option.short !== typed && option.long !== `--${bare}`)) continue;
      const title = `${option.flags}  ${option.description}\n`;
      const isCommon = option instanceof CommonOption;
      const page = isCommon ? 'userinfo --help' : helpPage(option.helpGroupHeading);
      const meaning = meanings.get(title) ?? { commands: [], see: page ? `  see: ${page}\n` : '' };
      meaning.commands.push(isCommon ? 'most commands' : fullName(command));
      meanings.set(title, meaning);
    }
  }
  if (meanings.size === 0) return undefined;
  const shown = [...meanings].map(
    ([title, { commands, see }]) => `${title}  in: ${commands.join(', ')}\n${see}`,
  );
  return shown.join('\n');
}

function commandsNamed(all: readonly Command[], typed: string): string | undefined {
  const shown = all.filter((one) => one.name() === typed);
  if (shown.length === 0) return undefined;
  return shown.map((one) => `${fullName(one)}  ${one.summary()}\n`).join('');
}
