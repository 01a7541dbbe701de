import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { CommonOption } from '../../../../src/cli/command-line/help-layout.js';
import { helpTopics } from '../../../../src/cli/commands/help/index.js';
import { topicPage } from '../../../../src/cli/commands/help/topics.late.js';
import { endpoints } from '../../../../src/core/contract/endpoints.js';
import { specialInfoNames } from '../../../../src/core/contract/info-names.js';
import { specialUserInfoKeys } from '../../../../src/core/contract/user-info.js';
import {
  commands,
  completeHelps,
  examplesIn,
  groups,
  helps,
  program,
} from '../../../support/help-texts.js';

const linesIn = (help: string) => help.trimEnd().split('\n');
/** A tenth more than a help should have: set the figure anew before that is used up. */
const maxLines = 1.1 * 60;
const longestHelps = [...helps]
  .map(([name, help]) => `${linesIn(help).length} lines: ${name}`)
  .sort((one, other) => Number.parseInt(other, 10) - Number.parseInt(one, 10))
  .slice(0, 10)
  .join('\n');

describe('the help of', () => {
  it('has a text for no command that is gone', () => {
    const folder = join(import.meta.dirname, '../../../../src/cli/commands');
    const files = readdirSync(folder).map((name) => join(folder, name, 'help.txt'));
    const texts = files.filter(existsSync).map((file) => readFileSync(file, 'utf8'));
    const named = [...texts.join('\n').matchAll(/^## userinfo (.+)$/gm)].map(([, name]) => name);
    expect(named).toContain('read');
    const known = ['help', ...[...commands, ...groups].map((words) => words.join(' '))];
    expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it.each(endpoints)('has a command for the operation $operation', ({ operation }) => {
    expect(commands).toContainEqual([operation]);
    for (const flag of ['--query', '--timeout', '-y/--yes'])
      expect(helps.get(operation)).toContain(flag);
  });

  it.each([...commands, ...groups].map((command) => [command.join(' ')]))(
    '%s has some 60 lines of 80 columns, and two examples',
    (name) => {
      const help = helps.get(name) ?? '';
      expect(examplesIn(help).length).toBeGreaterThanOrEqual(2);
      const lines = linesIn(help);
      expect(lines.length, longestHelps).toBeLessThanOrEqual(maxLines);
      expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([]);
    },
  );

  it.each([...commands, ...groups].map((command) => [command.join(' ')]))(
    '%s is complete with --help: each option has its meaning',
    (name) => {
      const complete = completeHelps.get(name) ?? '';
      expect(complete.split('\n').filter((line) => stringWidth(line) > 80)).toEqual([]);
      let command = program;
      for (const word of name === '' ? [] : name.split(' '))
        command = command.commands.find((one) => one.name() === word) ?? command;
      const help = command.createHelp();
      for (const { flags, description } of [
        ...help.visibleOptions(command),
        ...help.visibleGlobalOptions(command),
      ]) {
        const [first = ''] = description.split(' ');
        expect(complete).toMatch(
          new RegExp(`^  ${flags.replace(/[|[\]]/g, '\\$&')}\\s+${first}`, 'm'),
        );
      }
    },
  );

  it.each(['read', 'passback'])('%s fits a screen of 24 lines with its prompt', (name) => {
    const help = helps.get(name) ?? '';
    expect(help.split('\n').length).toBeLessThanOrEqual(24);
    expect(help).toContain('(all: --help)');
  });

  it('the program fits a screen of 24 lines with its prompt, and begins with what people come for', () => {
    const help = helps.get('') ?? '';
    expect(help.split('\n').length).toBeLessThanOrEqual(24);
    const places = [
      '  read',
      '  passback',
      '  profile',
      '--demo',
      'Signing: sign, probe',
      'Service: admin',
    ];
    const found = places.map((place) => help.indexOf(`\n${place}`.replace('\n--', '--')));
    expect(found).toEqual([...found].sort((one, other) => one - other));
    expect(found).not.toContain(-1);
  });

  it('the program is complete with --help: commands, options, topics', () => {
    const help = completeHelps.get('') ?? '';
    const parts = [
      'Commands:',
      'Signing:',
      'Service:',
      'Options:',
      'Topics (userinfo help <topic>):',
    ];
    const found = parts.map((part) => help.indexOf(`\n${part}\n`));
    expect(found).toEqual([...found].sort((one, other) => one - other));
    expect(found).not.toContain(-1);
    for (const [name] of commands) expect(help).toMatch(new RegExp(`^  ${name} {2}`, 'm'));
  });

  it('the options that bulk runs share are explained once, and listed by each run', () => {
    expect(helps.get('bulk')).toMatch(/^ {2}--resume {2,}continue a run/m);
    for (const name of ['bulk read', 'bulk passback']) {
      expect(helps.get(name)).toContain('\nShared options (see "userinfo bulk -h"):\n');
      expect(helps.get(name)).toMatch(/--resume,\s+--restart/);
      expect(completeHelps.get(name)).toMatch(/^ {2}--resume {2,}continue a run/m);
    }
  });

  it('a command names the common options that apply to it', () => {
    expect(helps.get('profile list')).not.toContain('--timeout');
    expect(helps.get('profile delete')).toContain('-y/--yes');
    expect(helps.get('read')).toContain('--timeout, --attempts');
    expect(helps.get('serve')).not.toContain('--query');
  });
});

it('names no option that there is not, nor do the topics', () => {
  const optionsOf = ({ options, commands }: Command): (string | undefined)[] => [
    ...options.flatMap(({ short, long }) => [short, long]),
    ...commands.flatMap(optionsOf),
  ];
  const known = ['--help', '--trace', ...optionsOf(program)];
  const topics = Object.keys(helpTopics).map(
    (topic) => [topic, topicPage(topic, 'chat_')] as const,
  );
  const unknown = [...completeHelps, ...topics].flatMap(([page, text]) => {
    const named = text.match(/(?<![\w-])--[a-z][\w-]*/g) ?? [];
    return named.filter((flag) => !known.includes(flag)).map((flag) => `${page}: ${flag}`);
  });
  expect(unknown).toEqual([]);
});

it('lists every common option for the commands of its group, and for no others', () => {
  const groups = ['profile', 'output', 'network', 'confirm'];
  const common = program.options.flatMap((option) =>
    option instanceof CommonOption ? [option] : [],
  );
  expect(
    program.options.filter((option) => !(option instanceof CommonOption)).map(({ long }) => long),
  ).toEqual(['--version']);
  for (const { long, group } of common) {
    expect(groups).toContain(group);
    const flag = new RegExp(`^Global Options.*?:\n(?: .*\n)*?.*${long}(?:,|\n)`, 'm');
    expect([long, flag.test(helps.get('read') ?? '')]).toEqual([long, true]);
    expect([long, flag.test(helps.get('profile use') ?? '')]).toEqual([long, false]);
  }
});

it('of read and passback lists the special names and the reserved keys', () => {
  const listed = (name: string) => {
    const [, list = ''] =
      /with a special meaning \(see "userinfo help info-names"\):\n((?: {2}.*\n)+)/.exec(
        completeHelps.get(name) ?? '',
      ) ?? [];
    return list.trim().split(/,\s+/);
  };
  expect(listed('read')).toEqual(Object.keys(specialInfoNames()));
  expect(listed('passback')).toEqual(Object.keys(specialUserInfoKeys));
  expect(completeHelps.get('passback')).toMatch(
    'Reserved keys, which cannot be passed back: union_id, channel.',
  );
});
