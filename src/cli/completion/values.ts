import type { Argument, Option } from 'commander';
import { specialInfoNames } from '../../protocol/info-names.js';
import { resultCodes } from '../../protocol/result-codes.js';
import { presets } from '../../signing/presets.js';
import { helpTopics } from '../help-topics/index.js';

/** What can stand in one place of a command line. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Several of the words, separated by commas. */
  | { readonly kind: 'list'; readonly words: readonly string[] }
  /** The names of the profiles that there are when it is asked. */
  | { readonly kind: 'profiles' }
  | { readonly kind: 'files' }
  /** Something that cannot be known. */
  | { readonly kind: 'text' };

const profiles: Values = { kind: 'profiles' };
const files: Values = { kind: 'files' };
const text: Values = { kind: 'text' };
const infoNames: Values = { kind: 'list', words: Object.keys(specialInfoNames) };
const presetNames = presets.map(({ name }) => name);

/** The options whose values are known, beside those that name their choices, or a file. */
const byFlag: Readonly<Record<string, Values>> = {
  '--profile': profiles,
  '--info-names': infoNames,
  '--names': infoNames,
  '--recipe': { kind: 'words', words: presetNames },
  '--signing-preset': { kind: 'list', words: presetNames },
};

export function optionValues({ long, flags, argChoices }: Option): Values {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  return byFlag[long ?? ''] ?? (/[<[](?:file|folder)(?:\|[a-z]+)?[>\]]/.test(flags) ? files : text);
}

/** The arguments whose values are known, by command and name, likewise. */
const byPlace: Readonly<Record<string, Values>> = {
  'read names': infoNames,
  'sign explain read names': infoNames,
  'sign presets name': { kind: 'words', words: presetNames },
  'explain code': { kind: 'words', words: resultCodes.map(String) },
};

/** `path` leads to the command: `['profile', 'use']`; `commands` are the names of the first words there are. */
export function argumentValues(
  argument: Argument,
  path: readonly string[],
  commands: readonly string[],
): Values {
  const name = argument.name();
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  if (path[0] === 'help')
    return { kind: 'words', words: [...helpTopics.map((topic) => topic.name), ...commands] };
  const isOldProfile = path[0] === 'profile' && path[1] !== 'add' && name === 'name';
  if (isOldProfile) return profiles;
  return byPlace[[...path, name].join(' ')] ?? (name === 'file' ? files : text);
}

/** One text for what can stand in a place, as the scripts know it: they tell the kinds by the first character. */
export function formatValues(values: Values): string {
  switch (values.kind) {
    case 'words':
      return values.words.join(' ');
    case 'list':
      return `,${values.words.join(' ')}`;
    default:
      return `@${values.kind}`;
  }
}
