import { exitStatus } from '../exit-status.js';
import { formatColumns } from './columns.js';

/** What each exit status means. */
export const exitMeanings: Readonly<Record<keyof typeof exitStatus, string>> = {
  success: "success: the envelope's code is 200",
  fault: 'a bug in userinfo itself; --verbose shows where',
  usage: 'bad usage or input; nothing was sent',
  profile: 'profile or credentials',
  rejected: 'the service answered with another code',
  noAnswer: 'no valid answer (network, TLS, time-out, not an envelope), or a long wait',
  failedRows: 'a bulk run with failed rows',
  interrupted: 'interrupted',
};

const rows = Object.entries(exitStatus).map(
  ([name, status]) => [String(status), exitMeanings[name as keyof typeof exitStatus]] as const,
);

export const exitCodesTopic = `Exit status of every command

${formatColumns(rows)}
A message on stderr says what was wrong and what to do next. A refusal (4) is
also on stdout, as any other answer; "userinfo explain <code>" says more of it.
"userinfo sign verify" ends with 4 too where a signature is wrong.
`;
