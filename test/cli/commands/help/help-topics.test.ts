import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outputFormats } from '../../../../src/cli/command-line/options.js';
import { helpTopics } from '../../../../src/cli/commands/help/index.js';
import { exitMeanings } from '../../../../src/cli/commands/help/topics.late.js';
import { exitStatus } from '../../../../src/cli/exit-status.js';
import { specialInfoNames } from '../../../../src/core/contract/info-names.js';
import { specialUserInfoKeys } from '../../../../src/core/contract/user-info.js';
import { settingNames } from '../../../../src/core/profiles/flags-and-environment.js';
import { Machine } from '../../../support/cli.js';

const machine = new Machine();
const project = join(import.meta.dirname, '../../../..');
const topics = new Map<string, string>();

beforeAll(async () => {
  for (const name of Object.keys(helpTopics)) {
    const { status, stdout, stderr } = await machine.run(['help', name]);
    expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' });
    topics.set(name, stdout);
  }
});
afterAll(() => machine[Symbol.dispose]());

/** Every variable that the code reads from the environment, or tells of. */
function variablesInSource(): Set<string> {
  const files = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('commands/help'))
    .map((file) => readFileSync(join(project, 'src', file), 'utf8'));
  const found = files.flatMap((text) => [
    ...text.matchAll(/\b(USERINFO_[A-Z_]+)\b/g),
    ...text.matchAll(/\benv\.([A-Z][A-Z_]+)\b/g),
    ...text.matchAll(/'(HTTPS?_PROXY)'/g),
  ]);
  return new Set(found.map(([, name]) => name ?? ''));
}

describe('the topic', () => {
  it.each(Object.keys(helpTopics).map((name) => [name]))('%s fits 80 columns', (name) => {
    const lines = (topics.get(name) ?? '').split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('environment lists every variable, and no others', () => {
    const named = new Set(
      [
        ...(topics.get('environment') ?? '').matchAll(
          /\b[A-Z]+(?:_[A-Z]+)+\b|\bTERM\b|\bPGSSLMODE\b/g,
        ),
      ].map(([name]) => name),
    );
    const used = variablesInSource();
    const made = Object.values(settingNames).map(({ variable }) => variable); // of the name of a setting
    for (const name of [...made, 'USERINFO_MAX_BODY']) used.add(name); // the last of an option of serve
    used.delete('PATH'); // handed to the demo, not listened to
    // It is said to be none; one is in an example of the SDK, two are codes of process warnings.
    for (const name of [
      'ALL_PROXY',
      'APP_SECRET',
      'USERINFO_DOUBT',
      'USERINFO_HOOK',
      'USERINFO_SECRET',
    ])
      used.delete(name);
    expect([...used].filter((name) => !named.has(name))).toEqual([]);
    expect([...named].filter((name) => name.startsWith('USERINFO_') && !used.has(name))).toEqual(
      [],
    );
    for (const { flag } of Object.values(settingNames))
      expect(topics.get('environment')).toContain(flag);
  });

  it('exit-codes has every status, with its meaning', () => {
    for (const status of Object.values(exitStatus)) {
      const meaning = exitMeanings[status];
      expect(topics.get('exit-codes')).toMatch(
        new RegExp(`^  ${status} +${meaning.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'm'),
      );
    }
  });

  it('output has every format', () => {
    const page = readFileSync('docs/output.md', 'utf8');
    for (const format of outputFormats) {
      expect(topics.get('output')).toMatch(new RegExp(`^  ${format} `, 'm'));
      expect(page).toContain(`\`-o ${format}\``);
    }
  });

  it('info-names has every special name and key, with its meaning', () => {
    const rows = [...Object.entries(specialInfoNames()), ...Object.entries(specialUserInfoKeys)];
    for (const [name, meaning] of rows)
      expect(topics.get('info-names')).toMatch(new RegExp(`^  ${name} +${meaning}$`, 'm'));
  });

  it('signing shows the default recipes', () => {
    expect(topics.get('signing')).toMatch(/^ {2}app_sign {2}MD5 of app_key=…&random=…/m);
    expect(topics.get('signing')).toMatch(/^ {2}sign {6}MD5 of k=v&… sorted by name/m);
  });
});

describe('help', () => {
  it('shows the help of a command inside another', async () => {
    const { stdout } = await machine.run(['help', 'admin', 'code', 'issue']);
    expect(stdout).toBe((await machine.run(['admin', 'code', 'issue', '--help'])).stdout);
  });

  it('lists commands and topics', async () => {
    expect((await machine.run(['help'])).stdout).toMatch(/^ {2}passback /m);
    const { stdout } = await machine.run(['help', '--help']);
    for (const [name, summary] of Object.entries(helpTopics))
      expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
  });

  it.each([
    ['bulk', /^Usage: userinfo bulk /],
    [
      'rate',
      /^--rate <n\/s> {2}maximum number of requests per second\n {2}in: userinfo bulk, userinfo profile add, userinfo sign try\n {2}see: userinfo bulk -h\n/,
    ],
    ['timeout', /^--timeout <duration> .*\n {2}in: most commands\n {2}see: userinfo --help\n$/],
    ['profile', /^Usage: userinfo profile /],
    ['rotate-secret', /^userinfo admin app rotate-secret {2}/],
  ])('finds %s', async (word, found) => {
    const { status, stdout, stderr } = await machine.run(['help', word]);
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(found), '']);
  });

  it('suggests a similar word for an unknown one', async () => {
    const done = await machine.run(['help', 'exti-codes']);
    expect(done).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('Did you mean:\n  userinfo help exit-codes\n'),
    });
  });
});
