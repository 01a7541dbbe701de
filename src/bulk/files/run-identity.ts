import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';

/** What must be the same for a run to be gone on with: in words that a user knows, each with its value as text. */
export type RunIdentity = Readonly<Record<string, string>>;

/** Throws an InvalidInputError where a run is not the one that a journal is of. */
export function checkIdentity(journal: string, begun: RunIdentity, given: RunIdentity): void {
  for (const name of Object.keys({ ...begun, ...given })) {
    if (begun[name] === given[name]) continue;
    const was = begun[name] === undefined ? 'not given' : quoteName(begun[name]);
    const is = given[name] === undefined ? 'not given' : quoteName(given[name]);
    throw new InvalidInputError(
      `the run of ${quoteName(journal)} was begun with another ${name}: ${was}, now ${is}`,
      { hint: 'Go on with what it was begun with, or begin anew with --restart, which sends every row.' },
    );
  }
}
