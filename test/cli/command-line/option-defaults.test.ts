import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { endpoints } from '../../../src/core/contract/endpoints.js';
import { checkSettings } from '../../../src/service/settings.js';
import { helps, program } from '../../support/help-texts.js';

/** The command with these words, and all below it. */
function commandsOf(
  command: Command,
  words: readonly string[] = [],
): [words: string, command: Command][] {
  const inner = command.commands.flatMap((one) => commandsOf(one, [...words, one.name()]));
  return [[words.join(' '), command], ...inner];
}

const all = new Map(commandsOf(program));

function optionOf(words: string, flag: string) {
  const found = all.get(words)?.options.find(({ long }) => long === flag);
  if (found === undefined) throw new Error(`userinfo ${words} has no ${flag}`);
  return found;
}

it('a command line without options has the defaults of all options with a value', () => {
  const defaults = [...all].map(([words, command]): [string, Record<string, unknown>] => {
    const valued = command.options.filter(({ negate }) => !negate);
    const values = valued.map((option) => [
      option.long,
      command.getOptionValue(option.attributeName()),
    ]);
    return [words, Object.fromEntries(values.filter(([, value]) => value !== undefined))];
  });
  expect(
    Object.fromEntries(defaults.filter(([, values]) => Object.keys(values).length > 0)),
  ).toEqual({
    '': { '--timeout': 10_000, '--attempts': 3 },
    bulk: { '--concurrency': 32 },
    probe: { '--pause': 250 },
    'profile add': { '--rate': 5 },
    'sign try': { '--rate': 5 },
    serve: {
      '--host': '127.0.0.1',
      '--port': 8787,
      '--log-format': 'pretty',
      '--log-level': 'info',
    },
    'admin app create': { '--base-url': 'http://127.0.0.1:8787' },
    'admin code issue': { '--ttl': 300_000, '--uses': 1 },
    'admin audit': { '--limit': 100 },
  });
});

it('what is on without its --no- option is on', () => {
  const negated = [...all].flatMap(([words, command]) => {
    const options = command.options.filter((option) => option.negate);
    return options.map((option) => [
      words,
      option.long,
      command.getOptionValue(option.attributeName()),
    ]);
  });
  expect(negated.toSorted()).toEqual([
    ['', '--no-input', true],
    ['bulk', '--no-preflight', true],
    ['profile set', '--no-allow-http', undefined],
    ['serve', '--no-migrate', true],
    ['serve', '--no-page', undefined],
  ]);
});

it.each(
  [...all].flatMap(([words, { options }]) =>
    options
      .filter((option) => option.defaultValueDescription)
      .map(({ long }) => [words, long ?? '']),
  ),
)('userinfo %s %s: the help names the default as a user would give it', (words, flag) => {
  const { parseArg, defaultValue, defaultValueDescription = '' } = optionOf(words, flag);
  expect(parseArg?.(defaultValueDescription, undefined as never)).toEqual(defaultValue);
  if (words !== 'serve' && words !== '')
    expect(helps.get(words)?.replace(/\s+/g, ' ')).toMatch(`(default: ${defaultValueDescription})`);
});

it('a default that the help names is that of the service', () => {
  const named = (words: string, flag: string) => {
    const { description, parseArg } = optionOf(words, flag);
    const [, text = ''] = /\(default: (\w+)\)/.exec(description) ?? [];
    return parseArg?.(text, undefined as never);
  };
  const service = checkSettings({});
  expect(named('serve', '--max-connections')).toBe(service.maxConnections);
  expect(named('serve', '--keep-alive')).toBe(service.keepAliveMs);
  expect(named('serve', '--request-timeout')).toBe(service.requestTimeoutMs);
  expect(named('serve', '--max-body')).toBe(service.maxBodyBytes);
  expect(named('serve', '--drain-delay')).toBe(service.drainDelayMs);
});

it('each option is read', () => {
  const files = readdirSync('src/cli', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const code = files.map((name) => readFileSync(`src/cli/${name}`, 'utf8')).join('\n');
  // Neither a comment nor a text nor the type of an option has an effect.
  const read = code.replace(/^\s*(?:\/\*|\*|\/\/).*$/gm, '').replace(/readonly \w+\??:/g, '');
  const unread = [...all].flatMap(([words, { options }]) =>
    options
      .filter((option) => {
        // In the code, or in a list of options that are passed on.
        const name = option.attributeName();
        return !new RegExp(`(?<![-\\w'"])${name}(?![-\\w'"])|^ *'${name}',$`, 'm').test(read);
      })
      .map(({ long }) => `${words} ${long}`),
  );
  expect(unread).toEqual([]);
});

/** Options that say what they are for. */
const selfEvident =
  'profile output json query yes timeout attempts version environment base-url tenant-code channel ' +
  'app-key from concurrency rate primary-key union-id host port database log-format log-level demo lang test name ttl ' +
  'uses limit';

it('each option says what it is for, or docs/decisions/options.md says who needs it', () => {
  const page = readFileSync('docs/decisions/options.md', 'utf8');
  const table = page.split('\n').filter((line) => line.startsWith('| `'));
  const explained = table.flatMap((line) => line.split('|')[1]?.match(/--[\w-]+/g) ?? []);
  const known = [...explained, ...selfEvident.split(' ').map((name) => `--${name}`)];
  const options = [...all.values()].flatMap((command) =>
    command.options.filter((one) => !one.hidden),
  );
  const flags = options.flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? []);
  expect(new Set(known)).toEqual(new Set(flags));
});

it.each(endpoints)(
  'an option of sign explain $operation is a parameter, and $operation has it',
  (endpoint) => {
    const { operation } = endpoint;
    const parameters = endpoint.parameters.map(({ name }) => `--${name.replaceAll('_', '-')}`);
    const explained = all.get(`sign explain ${operation}`)?.options ?? [];
    // Those with a heading say where requests go.
    const ofRequest = explained.filter(({ helpGroupHeading = '' }) => helpGroupHeading === '');
    expect(explained.length).toBeGreaterThan(ofRequest.length);
    // Another option is for sending: `takesForSending`.
    expect(parameters).toEqual(expect.arrayContaining(ofRequest.map(({ long }) => long)));
    for (const { long } of ofRequest) optionOf(operation, long ?? '');
  },
);
