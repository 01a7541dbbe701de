import type { Command, HelpConfiguration } from 'commander';

/** The examples at the end of a command's help, each with its purpose. */
export function examples(...lines: readonly (readonly [command: string, purpose: string])[]): string {
  const shown = lines.map(([command, purpose]) => `  # ${purpose}\n  $ ${breakCommand(command)}`);
  return `\nExamples:\n${shown.join('\n')}`;
}

/** Continues a long command on further lines, as a shell reads them. */
function breakCommand(command: string): string {
  const lines = [''];
  for (const part of command.split(/ (?=--?[a-z]|'https?:|[|>] |&& |"\$\()|(?<=;) /)) {
    const line = lines.at(-1) ?? '';
    const joined = line === '' ? part : `${line} ${part}`;
    if (joined.length <= 72 || line === '') lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines.join(' \\\n      ');
}

/** Names and their meanings, in two columns. */
export function formatColumns(rows: readonly (readonly [name: string, meaning: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('');
}

/** The common options, by what they are about. */
const commonGroups = {
  profile: ['--profile'],
  output: ['--output', '--json', '--query', '--mask'],
  network: ['--timeout', '--attempts', '--verbose'],
  confirm: ['--yes', '--no-input'],
} as const;
export type CommonGroup = keyof typeof commonGroups;

const shownCommon = new WeakMap<Command, readonly string[]>();

/** Has the help of a command list the common options that apply to it. */
export function showCommon(command: Command, groups: readonly CommonGroup[]): void {
  shownCommon.set(command, [...groups.flatMap((group) => commonGroups[group]), '--no-color']);
}

/** Groups of options that a page of the help explains; the help of a command has their flags. */
const pages: Readonly<Record<string, string>> = {
  'Global Options:': '"userinfo --help"',
  'Connection:': '"userinfo help connection"',
  'Operation:': '"userinfo help operation"',
  'Many rows:': '"userinfo help many-rows"',
};

/** The help of commands: at most 60 lines, with the common options that apply. */
export const helpLayout: HelpConfiguration = {
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  visibleGlobalOptions: (command) => {
    const flags = shownCommon.get(command) ?? [];
    let root = command;
    while (root.parent !== null) root = root.parent;
    return root.options.filter(({ long }) => flags.includes(long ?? ''));
  },
  formatItemList: (heading, items, helper) => {
    const page = pages[heading];
    if (items.length === 0) return [];
    if (page === undefined) return [heading, ...items, ''];
    const flags = items.map((item) => /(?:-\w, )?--[\w-]+/.exec(item)?.[0].replace(', ', '/'));
    const text = helper.boxWrap(flags.join(', '), (helper.helpWidth ?? 80) - 2);
    return [`${heading.replace(':', '')} (see ${page}):`, text.replace(/^/gm, '  '), ''];
  },
};
