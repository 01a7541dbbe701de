import type { Option } from 'commander';
import { exitMeanings, topicPage } from '../../src/cli/commands/help/topics.late.js';
import {
  argumentText,
  type Documented,
  documentedCommands,
  groups,
  inGroup,
  optionText,
} from './commands.js';

/** The man pages, in the language of man(7), by file name. */
export async function manPages(): Promise<Map<string, string>> {
  const commands = await documentedCommands();
  const page = (name: string) => (name === 'userinfo' ? name : `userinfo-${name}`);
  const others = Object.keys(groups).map((name) => `.BR ${roff(page(name))} (1)`);
  return new Map(
    Object.entries(groups).map(([name, about]) => {
      const lines = [
        `.TH ${page(name).toUpperCase()} 1 "" userinfo`,
        '.SH NAME',
        `${roff(page(name))} \\- ${roff(about)}`,
        ...(name === 'userinfo'
          ? ['.SH SYNOPSIS', '.B userinfo', '[options] command [arguments]']
          : []),
        '.SH COMMANDS',
        ...inGroup(commands, name)
          .filter(({ isGroup }) => !isGroup || name === 'userinfo')
          .flatMap(manCommand),
        ...(name === 'userinfo' ? manFacts() : []),
        '.SH SEE ALSO',
        ...others.filter((other) => !other.includes(` ${roff(page(name))} `)),
      ];
      return [`${page(name)}.1`, `${lines.join('\n')}\n`];
    }),
  );
}

function manFacts(): string[] {
  return [
    '.SH INFO NAMES',
    '.nf',
    ...topicPage('info-names', 'chat_').trimEnd().split('\n').slice(2).map(roff),
    '.fi',
    '.SH EXIT STATUS',
    ...Object.entries(exitMeanings).flatMap(([status, meaning]) => [
      '.TP',
      `.B ${status}`,
      roff(meaning),
    ]),
    '.SH ENVIRONMENT',
    '.nf',
    ...topicPage('environment', 'chat_').trimEnd().split('\n').slice(2).map(roff),
    '.fi',
  ];
}

function manCommand({ usage, description, args, options, after }: Documented): string[] {
  return [
    `.SS ${roff(usage)}`,
    roff(description),
    ...args.flatMap((argument) => [
      '.TP',
      `.I ${roff(argument.name())}`,
      roff(argumentText(argument)),
    ]),
    ...options.flatMap(manOption),
    ...(after === '' ? [] : ['.PP', '.nf', ...after.split('\n').map(roff), '.fi']),
  ];
}

function manOption(option: Option): string[] {
  return ['.TP', `.B ${roff(option.flags)}`, roff(optionText(option))];
}

function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
    .replaceAll('\n', ' ');
}
