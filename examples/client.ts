import { UserInfoClient } from 'userinfo-cli';

/** One client a process, with the variables of the command line: it keeps its connections open between calls. */
export const client = UserInfoClient.fromEnv();
