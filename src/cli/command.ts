import { type Command, Option } from 'commander';
import type { SenderOptions } from '../client/call/options.js';
import { ProfileStore } from '../core/profiles/profile-store.js';
import { configFolder } from '../core/support/folders.js';
import type { Admin } from '../service/index.js';
import {
  type CommonGroup,
  CommonOption,
  DependentOption,
  type LoadHelpText,
  rootOf,
  setHelpText,
  showCommon,
} from './command-line/help-layout.js';
import type { CommonOptions } from './command-line/options.js';
import { cutInCommandLine } from './command-line/space-around.js';
import type { Io } from './io.js';
import { printData } from './output/print.js';
import { isPlainTable, type OutputStyle, outputStyle } from './output/style.js';
import { createPrompt } from './prompt.js';

/** The dependencies of a command: all its effects go through them. */
export type CliContext = ReturnType<typeof createContext>;

/**
 * The context of the command line of `args` (without `node` and the script): the user's profiles,
 * the network.
 */
export function createContext(io: Io, signal: AbortSignal, args: readonly string[]) {
  const context = {
    io,
    /**
     * Aborted by Ctrl-C, SIGTERM and SIGHUP. A second SIGTERM dispatches `terminate`, on this
     * signal alone.
     */
    signal,
    prompt: createPrompt(io, signal, !args.includes('--no-input')),
    profiles: new ProfileStore(configFolder(io.env)),
    args,
    /** Whether a request may have been sent. */
    hasSent: false,
    async connect(options: SenderOptions) {
      const { CallClient } = await import('../client/call/call-client.js');
      const client = new CallClient(options);
      context.hasSent = true;
      return client;
    },
    /**
     * Opens the store of the service directly, without HTTP; `database` is that of `--database`.
     */
    async openAdmin(database: string | undefined, create: boolean): Promise<Admin> {
      const { chooseStore, mayMigrate } = await import('./command-line/database.js');
      const { openAdmin } = await import('../service/index.js');
      return openAdmin({
        ...(await chooseStore(database, io.env, create)),
        create,
        upgrade: mayMigrate(io.env),
      });
    },
  };
  return context;
}

/** One command line at work: the command, its options, and where it reads and writes. */
export interface Invocation<Options = object> {
  readonly context: CliContext;
  readonly io: Io;
  readonly command: Command;
  /** Its own options and the common ones. */
  readonly options: CommonOptions & Options;
  readonly style: OutputStyle;
  /** Whether the output is for people: the default table, without a query. */
  readonly isTable: boolean;
  /** Prints data in the format that the options ask for. */
  print(data: unknown): Promise<void>;
}

/** A command or a group of commands: what it takes, its help, and its work. */
export interface CommandSpec<Options, Arguments extends unknown[]> {
  readonly name: string;
  readonly summary: string;
  /** The `help.txt` of its folder; a command of a group is in that of the group. */
  readonly help?: LoadHelpText;
  /**
   * The common options that apply to it: `output` only if it prints data, which an option could
   * format. A group has none, unless its commands share them.
   */
  readonly common: readonly CommonGroup[];
  /** Adds its arguments and options. */
  readonly takes?: (command: Command, context: CliContext) => Command;
  /** Its work, with the arguments that `takes` adds. A group has none. */
  readonly action?: (invocation: Invocation<Options>, ...operands: Arguments) => Promise<void>;
  /** The commands of a group. */
  readonly commands?: readonly Declare[];
}

/** Adds a command to a group, or to the program. */
export type Declare = (parent: Command, context: CliContext) => void;

/**
 * An option of all commands that is given and that the command has no use for. An option whose
 * promise every command keeps, such as `--no-input`, and the format of errors are never one.
 */
function findUnused(command: Command, common: readonly CommonGroup[]): CommonOption | undefined {
  const root = rootOf(command);
  const isGiven = (option: Option) => root.getOptionValueSource(option.attributeName()) === 'cli';
  return root.options
    .filter((option) => option instanceof CommonOption)
    .filter(isGiven)
    .find(({ isKept, group }) => !isKept && !common.includes(group));
}

/** An option that is given without any of those that give it an effect. */
function findAlone(command: Command): DependentOption | undefined {
  const options = command.optsWithGlobals();
  const isAlone = (option: DependentOption) =>
    command.getOptionValueSourceWithGlobals(option.attributeName()) === 'cli' &&
    option.needs.every((flag) => options[new Option(flag).attributeName()] === undefined);
  return [...command.options, ...(command.parent?.options ?? [])]
    .filter((option) => option instanceof DependentOption)
    .filter(({ needs }) => needs.length > 0)
    .find(isAlone);
}

/** Makes a command of its specification. The output options are checked before its work begins. */
export function command<Options, Arguments extends unknown[]>(
  spec: CommandSpec<Options, Arguments>,
): Declare {
  const { common, takes, action, commands = [] } = spec;
  const isGroup = action === undefined;
  return (parent, context) => {
    const command = parent.command(spec.name).summary(spec.summary);
    if (spec.help !== undefined) setHelpText(command, spec.help);
    takes?.(command, context);
    for (const declare of commands) declare(command, context);
    showCommon(command, common);
    if (isGroup) {
      command.helpCommand('help [command]', 'show the help of a command');
      command.action(async () => {
        const { addTexts } = await import('./command-line/help-texts.late.js');
        await addTexts(command, true);
        command.outputHelp(); // a reader may page it
      });
      return;
    }
    command.action(async () => {
      const { io, args } = context;
      const unused = findUnused(command, common);
      if (unused !== undefined)
        throw (await import('./command-line/suggestions.late.js')).unusedOption(
          command,
          unused,
          args,
        );
      const alone = findAlone(command);
      if (alone !== undefined)
        throw (await import('./command-line/suggestions.late.js')).optionAlone(alone);
      await cutInCommandLine(io, command);
      const options = command.optsWithGlobals<CommonOptions & Options>();
      const style = await outputStyle(options, io);
      const print = (data: unknown) => printData(data, io, style);
      const invocation = {
        context,
        io,
        command,
        options,
        style,
        isTable: isPlainTable(style),
        print,
      };
      await action(invocation, ...(command.processedArgs as Arguments));
    });
  };
}
