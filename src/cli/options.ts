import { type Command, Option } from 'commander';
import type { SettingFlags } from '../profiles/flags-and-environment.js';
import { parseCount, parseDuration } from './option-values.js';

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
export interface ConnectionOptions extends Omit<SettingFlags, 'profile'> {
  readonly resultCodes?: string;
}

export function addCommonOptions(program: Command): Command {
  return program
    .option('-p, --profile <name>', 'profile to use (default: the active one)')
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats))
    .addOption(new Option('--json', 'the same as --output json').conflicts('output'))
    .option('--query <expression>', 'print what this JMESPath expression selects')
    .option('--mask', 'mask personal data in the output')
    .addOption(
      new Option('--timeout <duration>', 'maximum duration of a call, with all its attempts')
        .default(10_000, '10s')
        .argParser(parseDuration),
    )
    .option(
      '--attempts <n>',
      'maximum number of attempts, the first included',
      (text) => parseCount(text, 'attempts'),
      3,
    )
    .option('-y, --yes', 'answer yes to every confirmation')
    .option('--no-input', 'never prompt')
    .option('--no-color', 'print without colours')
    .option('--verbose', 'show request and response, and the stack trace of an internal error');
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
