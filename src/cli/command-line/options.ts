import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../../core/contract/errors.js';
import type { SettingFlags } from '../../core/profiles/flags-and-environment.js';
import { CommonOption } from './help-layout.js';

/** What the program asks of an output format. */
interface FormatFacts {
  /** Whether it has the data of an answer alone. The others keep the nesting. */
  readonly isFlat: boolean;
  /** What an error on stderr is. */
  readonly errors: 'text' | 'json';
}

const formatFacts = {
  table: { isFlat: false, errors: 'text' },
  json: { isFlat: false, errors: 'json' },
  ndjson: { isFlat: false, errors: 'json' },
  yaml: { isFlat: false, errors: 'text' },
  csv: { isFlat: true, errors: 'text' },
} as const satisfies Readonly<Record<string, FormatFacts>>;

export type OutputFormat = keyof typeof formatFacts;
export const outputFormats = Object.keys(formatFacts) as OutputFormat[];

export function factsOf(format: OutputFormat): FormatFacts {
  return formatFacts[format];
}

/** Whether errors are JSON in a format; `name` may be no format. */
export function hasJsonErrors(name: string | undefined): boolean {
  return outputFormats.some((format) => format === name && formatFacts[format].errors === 'json');
}

/** Options of every command, accepted before or after its name. */
export interface CommonOptions {
  readonly profile?: string;
  readonly output?: OutputFormat;
  readonly json?: true;
  /** A JMESPath expression. */
  readonly query?: string;
  readonly mask?: true;
  /** Milliseconds. */
  readonly timeout: number;
  readonly attempts: number;
  readonly verbose?: true;
  readonly yes?: true;
}

/** Options that override environment variables, which override the profile. */
export type ConnectionOptions = Omit<SettingFlags, 'profile'>;

export function addCommonOptions(program: Command): Command {
  for (const option of commonOptions()) program.addOption(option);
  return program;
}

function commonOptions(): CommonOption[] {
  return [
    new CommonOption('profile', '-p, --profile <name>', 'profile to use (default: the active one)'),
    new CommonOption('output', '-o, --output <format>', 'output format', true).choices(
      outputFormats,
    ),
    new CommonOption('output', '--json', 'the same as --output json', true).conflicts('output'),
    new CommonOption(
      'output',
      '--query <expression>',
      'print what this JMESPath expression selects',
    ),
    new CommonOption('output', '--mask', 'mask personal data in the output'),
    new CommonOption(
      'network',
      '--timeout <duration>',
      'maximum duration of a call, with all its attempts',
    )
      .default(10_000, '10s')
      .argParser(parseDuration),
    new CommonOption('network', '--attempts <n>', 'maximum number of attempts, the first included')
      .default(3)
      .argParser(parseCount),
    new CommonOption('confirm', '-y, --yes', 'answer yes to every confirmation', true),
    new CommonOption('confirm', '--no-input', 'never prompt', true),
    new CommonOption(
      'network',
      '--verbose',
      'show request and response, and the stack trace of an internal error',
      true,
    ),
  ];
}

/** Adds them under a heading of the help. */
export function addConnectionOptions(command: Command, heading = 'Connection:'): Command {
  return command
    .optionsGroup(heading)
    .addOption(
      new Option('--environment <name>', 'test or production').choices(['test', 'production']),
    )
    .option('--base-url <url>', 'address of the deployment')
    .option('--tenant-code <code>', 'tenant code')
    .option('--channel <code>', 'channel code')
    .option('--app-key <key>', 'key of the server application')
    .option(
      '--ca-file <file>',
      "PEM file of certificate authorities to trust in addition to Node's",
    )
    .option(
      '--client-cert <file>',
      'PEM file of a client certificate, for a gateway that asks for one',
    )
    .option('--client-key <file>', 'PEM file of its private key')
    .option('--proxy <url>', 'http proxy (default: that of HTTPS_PROXY or HTTP_PROXY)')
    .option('--platform <file>', 'platform file: recipes, result codes and other differences')
    .option('--allow-http', 'allow plain HTTP to another machine')
    .optionsGroup('');
}

// The parsers of option values throw an InvalidArgumentError, which commander reports with the name
// of the option.

const count = /^[1-9]\d{0,8}$/;

/**
 * Parses a positive integer.
 *
 * @throws InvalidArgumentError
 */
export function parseCount(text: string): number {
  if (count.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1.');
}

/**
 * Parses a positive integer, or `unlimited`.
 *
 * @throws InvalidArgumentError
 */
export function parseLimit(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (count.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1, or "unlimited".');
}

/**
 * Parses the text of an option that is not empty: with `"$ID"` of a variable that is not set, a
 * request would mean something else, such as another user.
 *
 * @throws InvalidInputError
 */
export function parseFilled(option: string): (text: string) => string {
  return (text) => {
    if (text !== '') return text;
    throw new InvalidInputError(`${option} is empty: is the variable set?`);
  };
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Adds the text of an option that may be given several times. */
export function addText(text: string, texts: readonly string[] = []): string[] {
  return [...texts, text];
}

/** The longest time that a timer of Node.js can wait, in whole hours. */
const maxHours = 596;

/**
 * Parses a duration such as `500ms`, `5s` or `2m` into milliseconds.
 *
 * @throws InvalidArgumentError
 */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(number) * unitMs[unit as keyof typeof unitMs];
  if (ms >= 1 && ms <= maxHours * unitMs.h) return Math.round(ms);
  throw new InvalidArgumentError(
    `Use a positive number and a unit: 500ms, 5s, 2m, 1h, 1d. The maximum is ${maxHours}h.`,
  );
}

/**
 * Parses a rate such as `100/s` into requests per second.
 *
 * @throws InvalidArgumentError
 */
export function parseRate(text: string): number {
  const [, rate] = /^([1-9]\d{0,6})\/s$/.exec(text) ?? [];
  if (rate !== undefined) return Number(rate);
  throw new InvalidArgumentError('Write it as 100/s.');
}

/** Requests a second to a platform that is asked for its rules, unless `--rate` says otherwise. */
export const usualRate = 5;

/** `--rate` of the commands that ask a platform for its rules. */
export function rateOption(): Option {
  return new Option('--rate <n/s>', 'maximum number of requests per second')
    .argParser(parseRate)
    .default(usualRate, `${usualRate}/s`);
}

/**
 * Parses the variable `name` of a flag without value.
 *
 * @throws InvalidInputError
 */
export function parseSwitch(text: string, name: string): boolean {
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  if (/^(?:0|false|no|off)?$/i.test(text)) return false;
  throw new InvalidInputError(`${name}: ${JSON.stringify(text)} is neither on nor off`, {
    hint: 'Write 1 or 0.',
  });
}
