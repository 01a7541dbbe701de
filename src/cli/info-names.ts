import { quoteName } from '../protocol/errors.js';
import { neutralName, parseInfoNames, specialInfoNames, splitInfoNames } from '../protocol/info-names.js';
import { pasteFault } from '../protocol/pasted-text.js';
import { basicInfoFields } from '../protocol/user-record.js';
import { misspelt } from './call/pairs.js';
import { asTheyAre, commandOf, refusePasted, retyped, withFlags } from './call/refuse-pasted.js';
import type { CliContext } from './command.js';
import type { Io } from './io.js';
import { profileOutline } from './profile-outline.js';

/** The names that have a meaning of their own, with the prefix of the platform. */
export const specialNames = ({ env }: Pick<Io, 'env'>) => specialInfoNames(profileOutline(env).chatPrefix);

/**
 * Parses the names of a read.
 *
 * @throws InvalidInputError for one that is probably misspelt, unless `--any-name` is given: a read uses up its code
 */
export function readNames(
  { args, io }: Pick<CliContext, 'args' | 'io'>,
  texts: readonly string[],
  anyName = false,
): readonly string[] {
  const json = texts.find((text) => /^\s*[{[]/.test(text));
  const names = parseInfoNames(json === undefined || anyName ? texts : [json.replaceAll(',', ' ')]);
  if (anyName) return names;
  const known = Object.keys(specialNames(io));
  const faultOf = (name: string) => misspelt(name, known) ?? pasteFault(json ?? name, 'info');
  for (const name of names) {
    const fault = faultOf(name);
    if (fault === null) continue;
    const typed = json ?? texts.find((text) => splitInfoNames(text).includes(name)) ?? '';
    const meant = (one: string) => faultOf(one)?.meant ?? one;
    const instead = json === undefined ? splitInfoNames(typed).map(meant).join(',') : (fault.meant ?? '');
    const without = fault.meant === null ? [] : retyped(args, typed, instead);
    refusePasted(`the name ${quoteName(json ?? name)}`, fault, without, asTheyAre(args));
  }
  return names;
}

/**
 * Refuses a query for a name that the answer cannot have, for its code would be used up: one that is probably
 * misspelt, or that the read does not ask for.
 *
 * @throws InvalidInputError
 */
export function checkQuery(
  { args, io }: Pick<CliContext, 'args' | 'io'>,
  query: string,
  looksFor: readonly string[],
  asked: readonly string[],
): void {
  const known = Object.keys(specialNames(io));
  const asIs = asTheyAre(args);
  const withQuery = (text: string) => commandOf(withFlags(args, ['--query', text]));
  const [, path = ''] = /^(?:data\.)?(?:(?:basic|extension)_info\.)?(\w+)$/.exec(query) ?? [];
  // §4.1: what is asked for by its name is a member of data itself.
  const isBasic = asked.length === 0 && basicInfoFields.some((field) => field === neutralName(path));
  const place = asked.includes(path) ? `data.${path}` : isBasic ? `data.basic_info.${path}` : query;
  if (place !== query) {
    const what = `does not look where the answer has ${quoteName(path)}`;
    refusePasted('--query', { what }, withQuery(place), asIs);
  }
  for (const name of looksFor) {
    if (asked.includes(name)) continue;
    const what = `the name ${quoteName(name)} in --query`;
    const fault = misspelt(name, known);
    if (fault !== null) refusePasted(what, fault, withQuery(query.replace(name, fault.meant)), asIs);
    const unasked = { what: 'is none that the read asks for' };
    if (known.includes(name) && asked.length > 0)
      refusePasted(what, unasked, commandOf([...args, name]), asIs);
  }
}
