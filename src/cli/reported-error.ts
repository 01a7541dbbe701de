/** What went wrong was said already, by another process: its exit status alone is passed on. */
export class ReportedError extends Error {
  readonly code = 'REPORTED';
  readonly exitStatus: number;

  constructor(exitStatus: number) {
    super(`another process ended with exit status ${exitStatus}`);
    this.name = 'ReportedError';
    this.exitStatus = exitStatus;
  }
}
