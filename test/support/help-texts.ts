import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { createContext } from '../../src/cli/command.js';
import { buildProgram, run } from '../../src/cli/program.js';

const { signal } = new AbortController();
const { stdin, stdout, stderr } = process;
/** The program with all of its commands. */
export const program = await buildProgram(
  createContext({ stdin, stdout, stderr, env: {} }, signal, []),
  [],
);

function leaves(command: Command, path: readonly string[] = []): string[][] {
  const inner = command
    .createHelp()
    .visibleCommands(command)
    .filter((subcommand) => subcommand.name() !== 'help');
  const isOne = inner.length === 0 || command.registeredArguments.length > 0;
  return [
    ...(isOne ? [[...path]] : []),
    ...inner.flatMap((subcommand) => leaves(subcommand, [...path, subcommand.name()])),
  ];
}

function groupsIn(command: Command, path: readonly string[] = []): string[][] {
  const inner = command.commands.filter((subcommand) => subcommand.commands.length > 0);
  return [
    [...path],
    ...inner.flatMap((subcommand) => groupsIn(subcommand, [...path, subcommand.name()])),
  ];
}

/** The words of each command. */
export const commands = leaves(program);
/** The words of each group of commands; none for the program itself. */
export const groups = groupsIn(program);

async function helpsBy(flag: '-h' | '--help'): Promise<Map<string, string>> {
  const helps = new Map<string, string>();
  for (const words of [...commands, ...groups]) {
    const written = new PassThrough();
    const io = { stdin, stdout: written, stderr: written, env: {} };
    const status = await run([...words, flag], io, signal, new Promise(() => {}));
    if (status !== 0) throw new Error(`userinfo ${words.join(' ')} ${flag} ended with ${status}`);
    helps.set(words.join(' '), String(written.read()));
  }
  return helps;
}

/** The short help of each command and group, by its words. */
export const helps = await helpsBy('-h');
/** The complete help of each. */
export const completeHelps = await helpsBy('--help');

/** The commands of the examples of a help, each in one line. */
export const examplesIn = (help: string) =>
  [...help.matchAll(/^ {2}\$ ((?:.*\\\n)*.*)$/gm)].map(([, line]) =>
    (line ?? '').replace(/ \\\n +/g, ' '),
  );
