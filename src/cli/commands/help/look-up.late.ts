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
  if (words.length === 1) {
    const all = [program, ...commandsBelow(program)];
    const lines = optionNamed(all, typed) ?? commandsNamed(all, typed);
    if (lines !== undefined) return lines;
  }
  const names = program.commands.map((command) => command.name());
  const nearest = nearestName(typed, [...names, ...topics]);
  const message = `there is no command, topic or option ${quoteName(words.join(' '))}`;
  if (nearest === null)
    throw new UsageError(message, 'Commands and topics are listed by:', ['userinfo --help']);
  throw new UsageError(message, 'Did you mean:', [`userinfo help ${nearest}`]);
}

function commandsBelow(command: Command): Command[] {
  const below = command.commands.filter((inner) => inner.name() !== 'help');
  return below.flatMap((inner) => [inner, ...commandsBelow(inner)]);
}

/** The commands that have an option with the same meaning, and the page that explains it. */
interface Meaning {
  readonly commands: string[];
  readonly page: string | undefined;
}

/**
 * The meanings of the option of this name, which may be several, each with the commands that have
 * it.
 */
function optionNamed(all: readonly Command[], typed: string): string | undefined {
  const bare = typed.replace(/^-+/, '').toLowerCase();
  const meanings = new Map<string, Meaning>();
  for (const command of all) {
    for (const option of command.options) {
      if (option.hidden || (option.short !== typed && option.long !== `--${bare}`)) continue;
      const title = `${option.flags}  ${option.description}\n`;
      const isCommon = option instanceof CommonOption;
      const page = isCommon ? 'userinfo --help' : helpPage(option.helpGroupHeading);
      const meaning = meanings.get(title) ?? { commands: [], page };
      meaning.commands.push(isCommon ? 'most commands' : fullName(command));
      meanings.set(title, meaning);
    }
  }
  if (meanings.size === 0) return undefined;
  const shown = [...meanings].map(([title, { commands, page }]) => {
    const lines = `${title}  in: ${commands.join(', ')}\n`;
    return page === undefined ? lines : `${lines}  see: ${page}\n`;
  });
  return shown.join('\n');
}

function commandsNamed(all: readonly Command[], typed: string): string | undefined {
  const named = all.filter((command) => command.name() === typed);
  if (named.length === 0) return undefined;
  return named.map((command) => `${fullName(command)}  ${command.summary()}\n`).join('');
}
