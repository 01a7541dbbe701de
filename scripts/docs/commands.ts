import { PassThrough } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import { createContext } from '../../src/cli/command.js';
import { addTexts } from '../../src/cli/command-line/help-texts.late.js';
import { buildProgram } from '../../src/cli/program.js';
import type { OperationName } from '../../src/core/contract/endpoints.js';

// The commands as the reference (test/docs/reference.ts) and the man pages show them.

/** A command with what its help says. */
export interface Documented {
  /** Such as `userinfo admin code issue`. */
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly args: readonly Argument[];
  readonly options: readonly Option[];
  /** What the help says below the options: examples, and what else there is to know. */
  readonly after: string;
  readonly isGroup: boolean;
}

/** The commands, each before its subcommands. */
export async function documentedCommands(): Promise<Documented[]> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: {} } as unknown as Parameters<typeof createContext>[0];
  const program = await buildProgram(createContext(io, new AbortController().signal, []), []);
  await addTexts(program, false);
  return below(program, 'userinfo');
}

function below(command: Command, name: string): Documented[] {
  const help = command.createHelp();
  const commands = help
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help' || name === 'userinfo');
  const own = {
    name,
    usage: `${name} ${command.usage()}`.trim(),
    summary: command.summary() || command.description(),
    description: command.description(),
    args: help.visibleArguments(command),
    options: command.options.filter(({ hidden }) => !hidden),
    after: textAfter(command),
    isGroup: commands.length > 0 && command.registeredArguments.length === 0,
  };
  return [own, ...commands.flatMap((one) => below(one, `${name} ${one.name()}`))];
}

/** What `addHelpText` put behind the help. */
function textAfter(command: Command): string {
  let text = '';
  const { writeOut } = command.configureOutput();
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  command.configureOutput(writeOut === undefined ? {} : { writeOut });
  return text
    .slice(text.lastIndexOf(command.helpInformation()) + command.helpInformation().length)
    .trim();
}

/**
 * The pages of commands, each with what it is about, and the man pages; what is on no other page is
 * on `userinfo`.
 */
export const groups: Readonly<Record<string, string> & Record<OperationName, string>> = {
  userinfo: 'options of every command, and what helps with the others',
  read: 'read the information of users',
  passback: 'pass information about users back',
  bulk: 'the same for each row of a file',
  profile: 'base URLs and credentials of your deployments',
  sign: 'signing rules',
  service: 'run the service',
  admin: 'apps, users and codes of the service',
};

/** The group of commands that are not below a command of its name. */
const groupOf: Readonly<Record<string, string>> = { serve: 'service' };

export function group(name: string): string {
  const words = name.split(' ').slice(1);
  const found = words
    .map((word) => groupOf[word] ?? word)
    .filter((word) => Object.hasOwn(groups, word));
  return found[0] ?? 'userinfo';
}

export const inGroup = (commands: readonly Documented[], name: string) =>
  commands.filter((command) => group(command.name) === name);

export function argumentText(argument: Argument): string {
  return withChoices(argument.description, argument.argChoices, argument.defaultValueDescription);
}

export function optionText({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  negate,
}: Option): string {
  const isShown = defaultValue !== undefined && typeof defaultValue !== 'boolean' && !negate;
  return withChoices(
    description,
    argChoices,
    defaultValueDescription ?? (isShown ? String(defaultValue) : undefined),
  );
}

function withChoices(
  text: string,
  choices: readonly string[] | undefined,
  usual: string | undefined,
): string {
  const more = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ];
  return more.length === 0 ? text : `${text} (${more.join('; ')})`;
}
