import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../protocol/errors.js';
import { parseDuration } from './duration.js';

/** How data is printed: `csv` is flat, the others show it as it is nested. */
export const outputFormats = ['table', 'json', 'yaml', 'csv'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Options that every command takes, before or after its name. */
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

/** Flags that beat the environment, which beats the profile. */
export interface ConnectionOptions {
  readonly environment?: string;
  readonly baseUrl?: string;
  readonly tenantCode?: string;
  readonly channel?: string;
  readonly appKey?: string;
  readonly caFile?: string;
  /** `false`, withdrawn, is an option of `profile set` alone. */
  readonly allowHttp?: boolean;
}

export function addCommonOptions(program: Command): Command {
  return program
    .addOption(new Option('-p, --profile <name>', 'use this profile, not the active one'))
    .addOption(new Option('-o, --output <format>', 'how data is printed').choices(outputFormats))
    .addOption(new Option('--json', 'the same as --output json'))
    .addOption(new Option('--query <expression>', 'print what this JMESPath expression selects'))
    .addOption(new Option('--mask', 'mask personal data in the output'))
    .addOption(
      new Option('--timeout <duration>', 'how long the whole call may take')
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
    .addOption(new Option('--verbose', 'show request and response, and the trace of an internal error'));
}

export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(new Option('--environment <name>', 'test or production').choices(['test', 'production']))
    .option('--base-url <url>', 'address of the deployment')
    .option('--tenant-code <code>', 'tenant code')
    .option('--channel <code>', 'channel code')
    .option('--app-key <key>', 'key of the server application')
    .option('--ca-file <file>', "authorities to trust beside Node's, as PEM")
    .option('--allow-http', 'allow a base URL of plain http on another machine');
}

/** The format in force: flag, then USERINFO_OUTPUT, then table. Throws an InvalidInputError. */
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

/** A whole number from 1. Throws an InvalidArgumentError, which commander reports with the option's name. */
export function parseCount(text: string, what: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Give a number of ${what} from 1.`);
}
