import { InvalidInputError } from '../protocol/errors.js';
import { parseInfoNames, specialInfoNames } from '../protocol/info-names.js';
import { pasteFault } from '../protocol/pasted-text.js';
import { hasUnsafe, quoteName } from '../protocol/unsafe-text.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { isSlipOf } from './call/pairs.js';
import type { CliContext } from './context.js';
import type { Io } from './io.js';
import { profileOutline } from './profile-outline.js';

/** The names that have a meaning of their own, with the prefix of the platform. */
export const specialNames = ({ env }: Pick<Io, 'env'>) => specialInfoNames(profileOutline(env).chatPrefix);

/** Another separator, a list as JSON, an option, or the path to a name in an answer. */
const noName = /[;|\s、；[\]{}"]|^-|^(?:data|basic_info|extension_info)\./;

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
  const names = parseInfoNames(texts);
  if (anyName) return names;
  const known = Object.keys(specialNames(io));
  for (const name of names) {
    const meant = known.includes(name) ? null : (known.find((one) => isSlipOf(name, one)) ?? null);
    const pasted = pasteFault(name, 'identifier');
    const fault = pasted?.what ?? (noName.test(name) ? 'is not a name' : undefined);
    if (meant === null && fault === undefined) continue;
    const why = meant === null ? fault : `has no special meaning: did you mean ${quoteName(meant)}?`;
    const isHidden = hasUnsafe(args.join('')); // such a command cannot be printed to be pasted
    const asIs = ['userinfo', ...args, '--any-name'].map(quoteWhereNeeded).join(' ');
    throw new InvalidInputError(`the name ${quoteName(name)} ${why}`, {
      sent: 'nothing',
      hint: isHidden
        ? `A read uses up its code. ${pasted?.meant ? `Write ${quoteWhereNeeded(pasted.meant)}` : 'Correct it.'}`
        : 'A read uses up its code. If that is its name:',
      commands: isHidden ? [] : [asIs],
    });
  }
  return names;
}
