/** The exit statuses of every command. */
export const exitStatus = {
  success: 0,
  /** An internal error. */
  fault: 1,
  /** Invalid usage or input: nothing was sent. */
  usage: 2,
  /** Profile or credentials. */
  profile: 3,
  /** The service answered with a code other than 200, or a checked signature or test vector is wrong. */
  rejected: 4,
  /** No valid answer, or none without a long wait. */
  noAnswer: 5,
  /** A bulk run with failed rows. */
  failedRows: 6,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

/** The stable codes of errors, by which their classes need not be loaded. Any other error is a fault. */
const codesOf: { readonly [Name in keyof typeof exitStatus]?: readonly string[] } = {
  usage: [
    'INVALID_INPUT',
    'INVALID_RECIPE',
    'INVALID_SAMPLE',
    'MISSING_PACKAGE',
    'PORT_IN_USE',
    'CANNOT_LISTEN',
    'CANNOT_OPEN_DATABASE',
    'OLD_SCHEMA',
    'NOT_FOUND',
  ],
  profile: ['PROFILE', 'PROFILE_FILE', 'CREDENTIALS', 'SIGNING_MODULE'],
  rejected: ['REJECTED', 'CHECK_FAILED', 'STORE_UNAVAILABLE'],
  noAnswer: ['NO_ANSWER', 'RETRY_LATER'],
  failedRows: ['FAILED_ROWS', 'RUN_FILE'],
  interrupted: ['CANCELLED'],
};

/** The exit status of an error. */
export function exitStatusOf(error: unknown): number {
  if (!(error instanceof Error)) return exitStatus.fault;
  if (error.name === 'ExitPromptError' || error.name === 'AbortError') return exitStatus.interrupted;
  if (error instanceof ReportedError) return error.exitStatus;
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return exitStatus.fault;
  if (code.startsWith('commander.')) {
    return (error as { exitCode?: number }).exitCode === 0 ? exitStatus.success : exitStatus.usage;
  }
  const [name] = Object.entries(codesOf).find(([, codes]) => codes.includes(code)) ?? ['fault'];
  return exitStatus[name as keyof typeof exitStatus];
}

/** An error that another process has already reported: only its exit status is passed on. */
export class ReportedError extends Error {
  readonly code = 'REPORTED';
  readonly exitStatus: number;

  constructor(exitStatus: number) {
    super(`another process ended with exit status ${exitStatus}`);
    this.name = 'ReportedError';
    this.exitStatus = exitStatus;
  }
}
