import { Command } from 'commander';
import type { ChatPrefix } from '../../../core/contract/chat-prefix.js';
import { specialInfoNames } from '../../../core/contract/info-names.js';
import { defaultClockWindowSeconds } from '../../../core/contract/limits.js';
import { specialUserInfoKeys } from '../../../core/contract/user-info.js';
import { settingNames } from '../../../core/profiles/flags-and-environment.js';
import { presets } from '../../../core/signing/presets.js';
import type { SigningRecipes } from '../../../core/signing/recipe.js';
import { sampleFormats } from '../../../lab/samples/formats.js';
import { formatColumns } from '../../command-line/help-layout.js';
import { sectionOf } from '../../command-line/help-texts.late.js';
import { addConnectionOptions, type OutputFormat } from '../../command-line/options.js';
import { type ExitStatus, exitStatus } from '../../exit-status.js';
import { breakText } from '../../output/break-lines.js';
import { addServeOptions } from '../serve/options.js';
import topics from './topics.txt?raw';

/** The meaning of each exit status. */
export const exitMeanings: Readonly<Record<ExitStatus, string>> = {
  [exitStatus.success]: "success: the envelope's code is 200",
  [exitStatus.fault]: 'no output, --query selects nothing, or a bug; --verbose shows where',
  [exitStatus.usage]: 'bad usage or input, or a database that cannot be opened; nothing was sent',
  [exitStatus.profile]: 'profile or credentials',
  [exitStatus.rejected]: 'the service answered with another code',
  [exitStatus.noAnswer]: 'no valid answer (network, TLS, time-out, database), or too long a pause',
  [exitStatus.failedRows]: 'a bulk run with failed rows',
  [exitStatus.interrupted]: 'interrupted',
};

/** What each output format prints. */
const formatMeanings: Readonly<Record<OutputFormat, string>> = {
  table: 'for people; the default',
  json: 'an answer byte for byte as it was received; a list is an array',
  ndjson: 'one line of JSON per record',
  yaml: 'the same data as YAML',
  csv: 'one row per record, one column per single value',
};

/**
 * The description of the default preset of a signature, without the remark that it is the default.
 */
function describeDefault(name: keyof SigningRecipes): string {
  const ending = `. The default for ${name}.`;
  const preset = presets.find(({ description }) => description.endsWith(ending));
  return preset?.description.slice(0, -ending.length) ?? '';
}

/**
 * The options that `add` adds under a heading, as the help of a command without pages shows them.
 */
function describeOptions(add: (command: Command) => Command, heading: string): string {
  const help = add(new Command()).helpOption(false).helpInformation();
  return `${help.split(/\n\n/).find((section) => section.startsWith(heading))}\n`;
}

const settings = Object.values(settingNames).map(
  ({ variable, title, flag }) => `  ${variable.padEnd(25)}  ${title}; ${flag} overrides it`,
);

/** What stands in the text of topics.txt by its name, such as `{{formats}}`. */
const parts: Readonly<Record<string, (prefix: ChatPrefix) => string>> = {
  app_sign: () => describeDefault('app_sign'),
  sign: () => describeDefault('sign'),
  seconds: () => String(defaultClockWindowSeconds),
  settings: () => settings.join('\n'),
  exits: () => formatColumns(Object.entries(exitMeanings)),
  outputFormats: () => formatColumns(Object.entries(formatMeanings)),
  formats: () =>
    sampleFormats
      .map(({ name, from }) => `  ${name}\n${breakText(`      ${from}`, 80)}\n`)
      .join(''),
  connection: () => describeOptions(addConnectionOptions, 'Connection:'),
  operation: () => describeOptions(addServeOptions, 'Operation:'),
  names: (prefix) => formatColumns(Object.entries(specialInfoNames(prefix))),
  keys: () => formatColumns(Object.entries(specialUserInfoKeys)),
};

/** A page of `userinfo help`; `prefix` is that of the names of the chat platform. */
export function topicPage(topic: string, prefix: ChatPrefix): string {
  const text = sectionOf(topics, topic) ?? '';
  return `${text.trimEnd()}\n`.replace(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => parts[name]?.(prefix) ?? '',
  );
}
