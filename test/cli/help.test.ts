import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { specialInfoNames } from '../../src/protocol/info-names.js';
import { specialUserInfoKeys } from '../../src/protocol/user-info.js';
import { commands, examplesIn, groups, helps } from '../support/help-texts.js';

describe('the help of', () => {
  it('lists every command', () => {
    expect(commands.map((command) => command.join(' '))).toEqual(
      expect.arrayContaining(['read', 'passback', 'profile add', 'admin code issue', 'serve', 'demo']),
    );
  });

  it.each([...commands, ...groups].map((command) => [command.join(' ')]))(
    '%s has at most 60 lines of 80 columns, and two examples',
    (name) => {
      const help = helps.get(name) ?? '';
      expect(examplesIn(help).length).toBeGreaterThanOrEqual(2);
      const lines = help.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(60);
      expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([]);
    },
  );

  it('the program lists commands, topics and the common options', () => {
    const help = helps.get('') ?? '';
    for (const part of ['Options:', 'Commands:', 'Topics (userinfo help <topic>):', 'Examples:']) {
      expect(help).toContain(`\n${part}\n`);
    }
  });

  it('a command names the common options that apply to it', () => {
    expect(helps.get('profile list')).not.toContain('--timeout');
    expect(helps.get('profile delete')).toContain('-y/--yes');
    expect(helps.get('read')).toContain('--timeout, --attempts');
    expect(helps.get('serve')).not.toContain('--query');
  });
});

it('of read and passback lists the special names and the reserved keys', () => {
  for (const name of Object.keys(specialInfoNames)) expect(helps.get('read')).toMatch(`\n  ${name} `);
  for (const key of Object.keys(specialUserInfoKeys)) expect(helps.get('passback')).toMatch(`\n  ${key} `);
  expect(helps.get('passback')).toMatch('Reserved keys, which cannot be passed back: union_id, channel.');
});
