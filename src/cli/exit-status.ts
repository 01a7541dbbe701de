/** The exit statuses of every command. */
export const exitStatus = {
  success: 0,
  /** An internal error, output that cannot be written, or a query that selects nothing. */
  fault: 1,
  /** Invalid usage or input: nothing was sent. */
  usage: 2,
  /** Profile or credentials. */
  profile: 3,
  /**
   * The service answered with a code other than 200, or a checked signature or test vector is
   * wrong.
   */
  rejected: 4,
  /** No valid answer of the service or of a database, or none without a long wait. */
  noAnswer: 5,
  /** A bulk run with failed rows. */
  failedRows: 6,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

/** The exit status of each error, by its stable code, so that its class need not be loaded. */
export const statusOfCode: Readonly<Record<string, ExitStatus>> = {
  ...ending('usage', 'USAGE', 'INVALID_INPUT', 'INVALID_RECIPE', 'INVALID_SAMPLE', 'NOT_FOUND'),
  ...ending('usage', 'PORT_IN_USE', 'CANNOT_LISTEN', 'CANNOT_OPEN_DATABASE', 'OLD_SCHEMA'),
  ...ending('profile', 'PROFILE', 'PROFILE_FILE', 'CREDENTIALS', 'SIGNING_MODULE'),
  ...ending('rejected', 'REJECTED', 'CHECK_FAILED'),
  ...ending('noAnswer', 'NO_ANSWER', 'RETRY_LATER', 'STORE_UNAVAILABLE'),
  ...ending('failedRows', 'FAILED_ROWS', 'RUN_FILE'),
  ...ending('interrupted', 'CANCELLED'),
  // The last never ends a command: the service catches it.
  ...ending('fault', 'OUTPUT', 'NOTHING_SELECTED', 'REFUSED'),
};

function ending(
  status: keyof typeof exitStatus,
  ...codes: readonly string[]
): Record<string, ExitStatus> {
  return Object.fromEntries(codes.map((code) => [code, exitStatus[status]]));
}

/** The exit status of an error. */
export function exitStatusOf(error: unknown): number {
  if (!(error instanceof Error)) return exitStatus.fault;
  if (error.name === 'ExitPromptError' || error.name === 'AbortError')
    return exitStatus.interrupted;
  const { code, exitCode } = error as { code?: unknown; exitCode?: number };
  if (typeof code !== 'string') return exitStatus.fault;
  if (code.startsWith('commander.')) return exitCode === 0 ? exitStatus.success : exitStatus.usage;
  if (!Object.hasOwn(statusOfCode, code)) return exitStatus.fault;
  return statusOfCode[code] ?? exitStatus.fault;
}
