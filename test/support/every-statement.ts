import { addOrLockUsers, addValues, removeValues, statements } from '../../src/service/store/statements.js';

/** All statements that serve requests and commands, by name; those for several digests in one of their sizes. */
export const everyStatement: Readonly<Record<string, string>> = {
  ...statements,
  addOrLockUsers: addOrLockUsers.get(8) ?? '',
  addValues: addValues.get(8) ?? '',
  removeValues: removeValues.get(8) ?? '',
};
