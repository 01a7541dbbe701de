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

/** By the stable `code` of an error, so that its class need not be loaded. */
const statusByCode: Readonly<Record<string, number>> = {
  INVALID_INPUT: exitStatus.usage,
  INVALID_RECIPE: exitStatus.usage,
  INVALID_SAMPLE: exitStatus.usage,
  PROFILE: exitStatus.profile,
  PROFILE_FILE: exitStatus.profile,
  CREDENTIALS: exitStatus.profile,
  SIGNING_MODULE: exitStatus.profile,
  MISSING_PACKAGE: exitStatus.usage,
  PORT_IN_USE: exitStatus.usage,
  CANNOT_LISTEN: exitStatus.usage,
  CANNOT_OPEN_DATABASE: exitStatus.usage,
  OLD_SCHEMA: exitStatus.usage,
  REJECTED: exitStatus.rejected,
  CHECK_FAILED: exitStatus.rejected,
  NOT_FOUND: exitStatus.usage,
  STORE_UNAVAILABLE: exitStatus.rejected,
  NO_ANSWER: exitStatus.noAnswer,
  RETRY_LATER: exitStatus.noAnswer,
  CANCELLED: exitStatus.interrupted,
  OUTPUT: exitStatus.fault,
  FAILED_ROWS: exitStatus.failedRows,
  RUN_FILE: exitStatus.failedRows,
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
  return statusByCode[code] ?? exitStatus.fault;
}
