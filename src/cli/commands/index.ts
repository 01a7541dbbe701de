import type { Command } from 'commander';
import type { OperationName } from '../../core/contract/endpoints.js';
import type { CliContext, Declare } from '../command.js';
import { readCommandLine } from '../command-line/command-line.js';

type Load = () => Promise<Declare>;

/** The command of each operation. */
const operations: Readonly<Record<OperationName, Load>> = {
  read: async () => (await import('./read/index.js')).declareRead,
  passback: async () => (await import('./passback/index.js')).declarePassback,
};

/**
 * The commands by heading of the help, in its order; each is loaded only if the arguments may mean
 * it.
 */
const tiers: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Commands:': {
    ...operations,
    bulk: async () => (await import('./bulk/index.js')).declareBulk,
    profile: async () => (await import('./profile/index.js')).declareProfile,
    doctor: async () => (await import('./doctor/index.js')).declareDoctor,
    demo: async () => (await import('./demo/index.js')).declareDemo,
    serve: async () => (await import('./serve/index.js')).declareServe,
  },
  'Signing:': {
    sign: async () => (await import('./sign/index.js')).declareSign,
    probe: async () => (await import('./probe/index.js')).declareProbe,
  },
  'Service:': {
    admin: async () => (await import('./admin/index.js')).declareAdmin,
  },
  'Other:': {
    explain: async () => (await import('./explain/index.js')).declareExplain,
    completion: async () => (await import('./completion/index.js')).declareCompletion,
    help: async () => (await import('./help/index.js')).declareHelp,
  },
};

const commands: Readonly<Record<string, Load>> = Object.assign({}, ...Object.values(tiers));

/**
 * Declares the commands that `args` may mean, under the headings of the help: those it names, or
 * all if it names none, or may be about the program itself.
 */
export async function declareCommands(
  program: Command,
  context: CliContext,
  args: readonly string[],
): Promise<void> {
  const named = Object.keys(commands).filter((name) => args.includes(name));
  const isKnown = named.length > 0 && !args.includes('help') && !isMistyped(program, args);
  for (const [heading, tier] of Object.entries(tiers)) {
    const wanted = Object.keys(tier).filter((name) => !isKnown || named.includes(name));
    const declared = await Promise.all(wanted.map((name) => tier[name]?.()));
    for (const declare of declared) declare?.(program.commandsGroup(heading), context);
  }
}

/**
 * Whether there is more before the first command than options of the program: a mistyped word, or
 * `-h`.
 */
function isMistyped(program: Command, args: readonly string[]): boolean {
  const first = args.findIndex((arg) => Object.hasOwn(commands, arg));
  const { operands, unknown } = readCommandLine(program, args.slice(0, first));
  return operands.length + unknown.length > 0;
}
