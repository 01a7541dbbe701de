import { UserInfoClient } from 'userinfo-exchange';

let made: UserInfoClient | undefined;

/**
 * One client a process, with the variables of the command line: it keeps its connections open
 * between calls. It is made at the first call: a framework loads this file while it builds, where
 * the variables may be missing.
 */
export const client = (): UserInfoClient => {
  made ??= UserInfoClient.fromEnv();
  return made;
};
