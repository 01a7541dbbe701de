import { type Command, Option } from 'commander';
import type { SettingFlags } from '../../core/profiles/flags-and-environment.js';
import { CommonOption } from './help-layout.js';
import { parseCount, parseDuration } from './option-values.js';

/** Whether an output format is flat: it has the data alone. The others keep the nesting. */
const flatness = { table: false, json: false, ndjson: false, yaml: false, csv: true } as const;

export type OutputFormat = keyof typeof flatness;
export const outputFormats = Object.keys(flatness) as OutputFormat[];

export function isFlat(format: OutputFormat): boolean {
  return flatness[format];
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
