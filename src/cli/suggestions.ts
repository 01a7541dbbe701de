// Apart from program.ts: only a command line that is refused loads it.
import type { Command } from 'commander';
import { distance } from 'fastest-levenshtein';
import { quoteName } from '../protocol/unsafe-text.js';
import { isSlip } from '../support/nearest-name.js';
import { fullName, UsageError } from './command.js';

/** Options that are never suggested: who types another one does not mean to confirm, to replace or to weaken. */
const never = /^--(?:yes|restart|allow-http|take-over|no-.*)$/;

/** Names that people bring from other tools, each with those of ours, of which the command has one. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  '--code': [], // the code is an argument
  '--env': ['--environment'],
  '--prod': ['--environment'],
  '--production': ['--environment'],
  '--curl': ['--print-curl'],
  '--header': ['--print-curl'],
  '--debug': ['--verbose'],
  '--data': ['--user-info'],
  '--url': ['--base-url'],
  '--host': ['--base-url'],
  '--jq': ['--query'],
  '--retry': ['--attempts'],
  '--retries': ['--attempts'],
  '--file': ['--from'],
  '--input': ['--from'],
  '-e': ['--environment'],
  '-p': ['--port'],
  '-q': ['--query'],
  '-v': ['--verbose'],
  '-u': ['--union-id'],
  '-t': ['--timeout'],
  '-d': ['--user-info'],
  '-H': ['--print-curl'],
  rm: ['delete', 'remove'],
  remove: ['delete'],
  del: ['delete'],
  ls: ['list'],
  current: ['show'],
  get: ['show', 'read'],
  switch: ['use'],
  select: ['use'],
  edit: ['set'],
  update: ['set', 'put'],
  new: ['add', 'create'],
  create: ['add', 'put'],
  write: ['passback'],
  version: ['--version'],
};

/** The long options of a command and of the groups that it is in, but for hidden ones. */
function optionsOf(command: Command): string[] {
  const inherited = command.parent === null ? [] : optionsOf(command.parent);
  const own = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  return [...new Set([...own, ...inherited])];
}

/**
 * The options or commands that were probably meant by one that does not exist: by its name in other tools, by its
 * beginning, by one of its words, or by a letter or two.
 */
export function suggest(typed: string, names: readonly string[]): string[] {
  const allowed = names.filter((name) => !never.test(name));
  const here = Object.hasOwn(foreign, typed) ? foreign[typed] : undefined;
  if (here?.length === 0) return [];
  const known = (here ?? []).filter((name) => allowed.includes(name) || name === '--version');
  if (known.length > 0) return known;
  const bare = bareName(typed);
  if (bare.length < 2) return [];
  const edits = (name: string) => distance(bare, bareName(name));
  const begun = bare.length < 3 ? [] : allowed.filter((name) => bareName(name).startsWith(bare));
  const same = begun.find(
    (name) => edits(name) === 0 || bareName(name).replaceAll('-', '') === bare.replaceAll('-', ''),
  );
  if (same !== undefined) return [same];
  if (begun.length > 0) return begun.slice(0, 3);
  const near = allowed
    .filter((name) => isSlip(bare, bareName(name)) || (bare.length >= 6 && edits(name) <= 2))
    .sort((one, other) => edits(one) - edits(other));
  if (near[0] !== undefined) return [near[0]];
  return bare.length < 3
    ? []
    : allowed.filter((name) => bareName(name).split('-').includes(bare)).slice(0, 3);
}

/** The error of an option that a command does not have, or not with a value; `typed` is the argument. */
export function unknownOption(command: Command, typed: string): UsageError {
  if (!typed.startsWith('--')) {
    const isOption = /^-[A-Za-z]$/.test(typed);
    const kind = isOption ? 'unknown short option' : 'unknown option';
    const message = `${kind} "${typed.slice(0, 2)}"`;
    if (!isOption)
      return new UsageError(message, command.registeredArguments.length > 0 ? dashAdvice : undefined);
    const meant = didYouMean(suggest(typed, optionsOf(command)));
    if (meant !== '') return new UsageError(message, meant);
    return new UsageError(message, 'The options are listed by:', [`${fullName(command)} --help`]);
  }
  const flag = typed.replace(/=.*$/s, '');
  if (optionsOf(command).includes(flag)) return new UsageError(`the option "${flag}" takes no value`);
  const meant = didYouMean(suggest(flag, optionsOf(command)));
  return new UsageError(`unknown option ${quoteName(flag)}`, meant || undefined);
}

const dashAdvice = 'Put -- before an argument that begins with -, and all options before the --.';

/** The error of a command that a group does not have: with what was probably meant, and its siblings. */
export function unknownCommand(group: Command, typed: string): UsageError {
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((one) => one.name())
    .filter((name) => name !== 'help');
  const lines = [didYouMean(suggest(typed, names)), `The commands are ${names.join(', ')}.`];
  return new UsageError(
    `unknown command ${quoteName(typed)}`,
    lines.filter((line) => line !== '').join('\n'),
  );
}

/** The error of a value that is not one of the choices of an option or an argument. */
export function unknownChoice(message: string, typed: string, choices: readonly string[]): UsageError {
  const [nearest] = suggest(typed, choices);
  const meant = nearest === undefined ? '' : `Did you mean "${nearest}"? `;
  return new UsageError(message, `${meant}It is one of ${choices.join(', ')}.`);
}

function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}

/** A name without dashes before it, in lower case, as `camelCase` and `snake_case` are written here. */
function bareName(name: string): string {
  const words = name.replace(/^-+/, '').replace(/([a-z])([A-Z])/g, '$1-$2');
  return words.replaceAll('_', '-').toLowerCase();
}
