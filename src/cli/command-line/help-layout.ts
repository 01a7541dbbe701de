import { type Command, Help, type HelpConfiguration, Option } from 'commander';

/** Whether the arguments (without `node` and the script) ask for the short help of a command. */
export function asksForShortHelp(args: readonly string[]): boolean {
  return args.some((arg) => /^-\w*h/.test(arg)) && !args.includes('--help') && args[0] !== 'help';
}

/** An example of a command, with its purpose. */
export type Example = readonly [command: string, purpose: string];

/** The examples at the end of a command's help, each with its purpose. */
export function examples(...all: readonly Example[]): string {
  const shown = all.map(([command, purpose]) => `  # ${purpose}\n  $ ${breakCommand(command)}`);
  return `\nExamples:\n${shown.join('\n')}`;
}

/** The two examples of the short help. */
export function firstExamples(...all: readonly Example[]): string {
  const shown = all.slice(0, 2).map(([command]) => `  $ ${breakCommand(command)}`);
  return `\nExamples:\n${shown.join('\n')}`;
}

/** Maximum number of characters of the first line of a command, and of those after it. */
const firstLineLength = 74;
const nextLineLength = 72;

/** Continues a long command on further lines, as a shell reads them. */
function breakCommand(command: string): string {
  const parts = command.split(/ (?=--?[a-z]|'https?:|[|>] |&& |"\$\()|(?<=;) /);
  const lines: string[] = [];
  let line = parts.shift() ?? '';
  for (const part of parts) {
    const joined = `${line} ${part}`;
    if (joined.length <= (lines.length === 0 ? firstLineLength : nextLineLength)) {
      line = joined;
    } else {
      lines.push(line);
      line = part;
    }
  }
  return [...lines, line].join(' \\\n      ');
}

/** Names and their meanings, in two columns. */
export function formatColumns(rows: readonly (readonly [name: string, meaning: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('');
}

/** Names or keys, whose meanings a page of the help explains. */
export function listNames(names: readonly string[], heading: string): string {
  return `\n${heading} (see "userinfo help info-names"):\n${wrapNames(names, 80)}\n`;
}

function wrapNames(names: readonly string[], width: number): string {
  return new Help().boxWrap(names.join(', '), width - 2).replace(/^/gm, '  ');
}

/** The subject of a common option. */
export type CommonGroup = 'profile' | 'output' | 'network' | 'confirm';

/** An option of the program, which commands list in their help by its group. */
export class CommonOption extends Option {
  readonly group: CommonGroup;
  /** Whether every command keeps its promise, also one whose help does not list it. */
  readonly isKept: boolean;

  constructor(group: CommonGroup, flags: string, description: string, isKept = false) {
    super(flags, description);
    this.group = group;
    this.isKept = isKept;
  }
}

/** An option that has an effect only with one of other options of its command. */
export class DependentOption extends Option {
  /** Such as `--dry-run`; none for an option that has an effect by itself. */
  readonly needs: readonly string[];

  constructor(flags: string, description: string, needs: readonly string[]) {
    super(flags, description);
    this.needs = needs;
  }
}

const shownCommon = new WeakMap<Command, readonly CommonGroup[]>();

/** The program that a command is of. */
export function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

/** Whether a command sends requests: the options of the network apply to it. */
export function sendsRequests(command: Command): boolean {
  return shownCommon.get(command)?.includes('network') === true;
}

/** Lists the common options that apply to a command in its help. */
export function showCommon(command: Command, groups: readonly CommonGroup[]): void {
  shownCommon.set(command, groups);
}

/** Loads a `help.txt`: a section `## userinfo …` for each command of its folder. */
export type LoadHelpText = () => Promise<{ readonly default: string }>;

const helpTexts = new WeakMap<Command, LoadHelpText>();

/** Says where the help of a command, and of those below it, has its descriptions and examples. */
export function setHelpText(command: Command, load: LoadHelpText): void {
  helpTexts.set(command, load);
}

/** The `help.txt` of the folder of a command. Empty for the program, which has no folder. */
export async function helpTextOf(command: Command | null): Promise<string> {
  if (command === null) return '';
  const load = helpTexts.get(command);
  return load === undefined ? helpTextOf(command.parent) : (await load()).default;
}

/** The options of a group that each of its commands has. */
export const sharedHeading = 'Shared options:';

/**
 * The options that a command shares with the others of its group, which are declared at the group.
 */
function sharedOptions({ parent }: Command): readonly Option[] {
  const options = parent?.options ?? [];
  const isShared = options.some(({ helpGroupHeading }) => helpGroupHeading === sharedHeading);
  return isShared ? options : [];
}

/**
 * Groups of options that a page of the help explains; the short help of a command has their flags.
 */
const pages: Readonly<Record<string, string>> = {
  'Preview:': 'userinfo read --help',
  'Global Options:': 'userinfo --help',
  'Connection:': 'userinfo help connection',
  'Operation:': 'userinfo help operation',
  [sharedHeading]: 'userinfo bulk -h',
};

/** The page that explains a group of options. */
export function helpPage(heading = ''): string | undefined {
  return pages[heading];
}

/** Groups of the program's commands that its short help has by their names alone. */
const namedOnly = ['Signing:', 'Service:', 'Other:'];

/** Paragraphs of flags that a page explains follow one another without an empty line. */
const flagParagraphs = /(\(see "[^\n]+"\):.*\n(?: {2}\S.*\n)*)\n(?=\w[\w ]* \(see ")/g;

/**
 * The help of commands, with the common options that apply. The short one names the options that a
 * page explains; that of the program, of `read` and of `passback` has at most 24 lines.
 */
export function helpLayout(isShort: boolean): HelpConfiguration {
  /** Whether the command that is shown is a group, or the program. */
  let isGroup = false;
  const isNamed = (heading: string | undefined) =>
    isShort && helpPage(heading) !== undefined && !(isGroup && heading === sharedHeading);
  return {
    showGlobalOptions: true,
    subcommandTerm: (command) => command.name(),
    visibleOptions: (command) => {
      const options = [...new Help().visibleOptions(command), ...sharedOptions(command)];
      return options.filter(({ long }) => !isShort || long !== '--help');
    },
    commandUsage: (command) => {
      const usage = Help.prototype.commandUsage.call(new Help(), command);
      return isShort && command.parent !== null ? `${usage}   (all: --help)` : usage;
    },
    visibleGlobalOptions: (command) => {
      const groups = shownCommon.get(command) ?? [];
      return rootOf(command).options.filter(
        (option) => option instanceof CommonOption && groups.includes(option.group),
      );
    },
    // Of the terms that have a meaning beside them.
    padWidth: (command, helper) => {
      if (!isShort) return Help.prototype.padWidth.call(helper, command, helper);
      const options = helper
        .visibleOptions(command)
        .filter(({ helpGroupHeading }) => !isNamed(helpGroupHeading));
      return Math.max(
        helper.longestArgumentTermLength(command, helper),
        helper.longestSubcommandTermLength(command, helper),
        ...options.map((option) => helper.optionTerm(option).length),
      );
    },
    formatHelp: (command, helper) => {
      isGroup = command.commands.length > 0;
      const text = Help.prototype.formatHelp.call(helper, command, helper);
      const isShortOfProgram = isShort && command.parent === null;
      const ordered = isGroup ? commandsFirst(text, !isShortOfProgram) : text;
      return ordered.replace(flagParagraphs, '$1');
    },
    formatItemList: (heading, items, helper) => {
      if (items.length === 0) return [];
      if (isShort && namedOnly.includes(heading)) return [listFirstWords(heading, items)];
      if (!isNamed(heading)) return [heading, ...items, ''];
      return listFlags(heading, items, helper.helpWidth ?? 80);
    },
  };
}

/** The help of a group with its commands before its options, which may be left out. */
function commandsFirst(text: string, hasOptions: boolean): string {
  const parts = text.trimEnd().split('\n\n');
  const isOptions = (part: string) => /^(?:Shared o|Global O|O)ptions|^Connection/.test(part);
  const ordered = parts.filter((part) => !isOptions(part));
  if (hasOptions) ordered.push(...parts.filter(isOptions));
  return `${ordered.join('\n\n')}\n`;
}

/** Names commands without their meanings: `Signing: sign, probe`. */
function listFirstWords(heading: string, items: readonly string[]): string {
  return `${heading} ${items.map((item) => item.trim().split(' ')[0]).join(', ')}`;
}

/** Names options without their meanings, and the page that has those. */
function listFlags(heading: string, items: readonly string[], width: number): string[] {
  const flags = items.flatMap((item) => /-[\w-]+(?:, --[\w-]+)?/.exec(item)?.[0] ?? []);
  const shown = flags.map((flag) => flag.replace(', ', '/'));
  const title = `${heading.replace(':', '')} (see "${helpPage(heading)}"):`;
  const line = `${title} ${shown.join(', ')}`;
  if (line.length <= width) return [line, ''];
  return [title, wrapNames(shown, width), ''];
}
