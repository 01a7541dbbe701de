import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../protocol/errors.js';

/** The output formats. `csv` is flat; the others keep the nesting of the data. */
export const outputFormats = ['table', 'json', 'yaml', 'csv'] as const;
export type OutputFormat = (typeof outputFormats)[number];

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
  readonly color: boolean;
  readonly input: boolean;
  readonly yes?: true;
}

/** Options that override environment variables, which override the profile. */
export interface ConnectionOptions {
  readonly environment?: string;
  readonly baseUrl?: string;
  readonly tenantCode?: string;
  readonly channel?: string;
  readonly appKey?: string;
  readonly caFile?: string;
  readonly resultCodes?: string;
  /** Only `profile set` has the negation, `--no-allow-http`. */
  readonly allowHttp?: boolean;
}

export function addCommonOptions(program: Command): Command {
  return program
    .addOption(new Option('-p, --profile <name>', 'profile to use (default: the active one)'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats))
    .addOption(new Option('--json', 'the same as --output json').conflicts('output'))
    .addOption(new Option('--query <expression>', 'print what this JMESPath expression selects'))
    .addOption(new Option('--mask', 'mask personal data in the output'))
    .addOption(
      new Option('--timeout <duration>', 'maximum duration of a call, with all its attempts')
        .default(10_000, '10s')
        .argParser(parseDuration),
    )
    .addOption(
      new Option('--attempts <n>', 'maximum number of attempts, the first included')
        .default(3)
        .argParser((text) => parseCount(text, 'attempts')),
    )
    .addOption(new Option('-y, --yes', 'answer yes to every confirmation'))
    .addOption(new Option('--no-input', 'never prompt'))
    .addOption(new Option('--no-color', 'print without colours'))
    .addOption(
      new Option('--verbose', 'show request and response, and the stack trace of an internal error'),
    );
}

/** Adds them under a heading of the help. */
export function addConnectionOptions(command: Command, heading = 'Connection:'): Command {
  return command
    .optionsGroup(heading)
    .addOption(new Option('--environment <name>', 'test or production').choices(['test', 'production']))
    .option('--base-url <url>', 'address of the deployment')
    .option('--tenant-code <code>', 'tenant code')
    .option('--channel <code>', 'channel code')
    .option('--app-key <key>', 'key of the server application')
    .option('--ca-file <file>', "PEM file of certificate authorities to trust in addition to Node's")
    .option('--result-codes <file>', "JSON file of the platform's own result codes")
    .option('--allow-http', 'allow plain HTTP to another machine')
    .optionsGroup('');
}

/**
 * The output format: flag, else USERINFO_OUTPUT, else table.
 *
 * @throws InvalidInputError for an unknown format in USERINFO_OUTPUT
 */
export function outputFormat(
  { output, json }: Pick<CommonOptions, 'output' | 'json'>,
  env: Readonly<Record<string, string | undefined>>,
): OutputFormat {
  if (json) return 'json';
  const wanted = output ?? (env.USERINFO_OUTPUT || 'table');
  const format = outputFormats.find((known) => known === wanted);
  if (format !== undefined) return format;
  throw new InvalidInputError(`USERINFO_OUTPUT is ${JSON.stringify(wanted)}`, {
    hint: `Set it to one of ${outputFormats.join(', ')}.`,
  });
}

/**
 * Parses a positive integer.
 *
 * @throws InvalidArgumentError, which commander reports with the option's name
 */
export function parseCount(text: string, what: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Give a number of ${what} from 1.`);
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Parses a duration such as `500ms`, `5s` or `2m` into milliseconds.
 *
 * @throws InvalidInputError
 */
export function parseDuration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  const ms = found === null ? 0 : Number(found[1]) * unitMs[found[2] as keyof typeof unitMs];
  if (ms >= 1 && ms <= maxMs) return Math.round(ms);
  throw new InvalidInputError(`${JSON.stringify(text)} is not a duration`, {
    hint: 'Use a positive number and a unit: 500ms, 5s, 2m, 1h, 1d. The maximum is 24 days.',
  });
}

/** The maximum delay of a Node timer. */
const maxMs = 2 ** 31 - 1;

/**
 * Parses a rate such as `100/s` into requests per second.
 *
 * @throws InvalidInputError
 */
export function parseRate(text: string): number {
  const found = /^([1-9]\d{0,6})\/s$/.exec(text);
  if (found !== null) return Number(found[1]);
  throw new InvalidInputError(`${JSON.stringify(text)} is not a rate`, { hint: 'Write it as 100/s.' });
}

/** The examples at the end of a command's help, each with its purpose. */
export function examples(...lines: readonly (readonly [command: string, purpose: string])[]): string {
  const shown = lines.map(([command, purpose]) => `  # ${purpose}\n  $ ${breakCommand(command)}`);
  return `\nExamples:\n${shown.join('\n')}`;
}

/** Continues a long command on further lines, as a shell reads them. */
function breakCommand(command: string): string {
  const lines = [''];
  for (const part of command.split(/ (?=--?[a-z]|[|>] |&& |"\$\()|(?<=;) /)) {
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
