import type { Command, Option } from 'commander';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { nearestName } from '../../../support/nearest-name.js';
import { fullName, UsageError } from '../../command-line/command-line.js';
import { CommonOption, helpPage } from '../../command-line/help-layout.js';
import { suggest } from '../../command-line/suggestions.late.js';
import { topicPage } from './topics.late.js';

/** Maximum number of pages that are named for a word in their text. */
const mostPages = 4;

/** An option, and the commands that have it. */
interface Found {
  readonly option: Option;
  readonly commands: string[];
}

/**
 * The commands that have an option, or the place of a command inside a group, in lines.
 *
 * @throws UsageError if there is neither
 */
export function lookUp(program: Command, words: readonly string[], topics: readonly string[]): string {
  const [typed = ''] = words;
  const all = commandsBelow(program);
  const options = optionsOf([program, ...all]);
  const found = words.length === 1 ? (optionsNamed(options, typed) ?? commandsNamed(all, typed)) : undefined;
  if (found !== undefined) return found;
  const names = [...program.commands.map((one) => one.name()), ...topics];
  const nearest = nearestName(typed, names);
  const message = `there is no command, topic or option ${quoteName(words.join(' '))}`;
  const isIn = (text: string) => typed.length > 2 && text.toLowerCase().includes(typed.toLowerCase());
  const pages = [
    ...topics.filter((topic) => isIn(topicPage(topic, 'chat_'))),
    ...all
      .filter((one) => isIn(`${one.summary()} ${one.description()}`))
      .map((one) => fullName(one).slice(9)),
  ].slice(0, mostPages);
  if (nearest !== null && words.length === 1)
    throw new UsageError(message, 'Did you mean:', [`userinfo help ${nearest}`]);
  if (pages.length > 0 && words.length === 1)
    throw new UsageError(
      message,
      'These pages have it:',
      pages.map((page) => `userinfo help ${page}`),
    );
  throw new UsageError(message, 'Commands and topics are listed by:', ['userinfo --help']);
}

function commandsBelow(command: Command): Command[] {
  const inner = command.commands.filter((one) => one.name() !== 'help');
  return inner.flatMap((one) => [one, ...commandsBelow(one)]);
}

/** All options by their flags and meanings: one name may have two. */
function optionsOf(commands: readonly Command[]): readonly Found[] {
  const found = new Map<string, Found>();
  for (const command of commands) {
    for (const option of command.options) {
      if (option.hidden) continue;
      const key = `${option.flags}\n${option.description}`;
      const one = found.get(key) ?? { option, commands: [] };
      one.commands.push(fullName(command));
      found.set(key, one);
    }
  }
  return [...found.values()];
}

function optionsNamed(options: readonly Found[], typed: string): string | undefined {
  const bare = typed.replace(/^-+/, '').toLowerCase();
  const named = options.filter(({ option }) => option.short === typed || option.long === `--${bare}`);
  const similar = named.length > 0 ? [] : suggest(`--${bare}`, longNames(options));
  const shown =
    named.length > 0 ? named : options.filter(({ option }) => similar.includes(option.long ?? ''));
  return shown.length === 0 ? undefined : shown.map(describeOption).join('\n');
}

function longNames(options: readonly Found[]): string[] {
  return [...new Set(options.flatMap(({ option }) => option.long ?? []))];
}

function describeOption({ option, commands }: Found): string {
  const where = option instanceof CommonOption ? 'most commands' : commands.join(', ');
  const page = option instanceof CommonOption ? 'userinfo --help' : helpPage(option.helpGroupHeading);
  return [
    `${option.flags}  ${option.description}`,
    `  in: ${where}`,
    ...(page === undefined ? [] : [`  see: ${page}`]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function commandsNamed(commands: readonly Command[], typed: string): string | undefined {
  const shown = commands.filter((one) => one.name() === typed);
  if (shown.length === 0) return undefined;
  return shown.map((one) => `${fullName(one)}  ${one.summary()}\n`).join('');
}
