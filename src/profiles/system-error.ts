const meanings: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than allowed',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'a file is in the way of the folder',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links go in a circle',
  EMFILE: 'too many files are open',
};

/** Whether it is what a failed call to the operating system throws; with `code`, whether it is that one. */
export function isSystemError(error: unknown, code?: string): error is NodeJS.ErrnoException {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return false;
  return code === undefined || error.code === code;
}

/** What went wrong, in words that follow "cannot be written:". */
export function describeSystemError(error: unknown): string {
  const code = isSystemError(error) ? error.code : undefined;
  return (code !== undefined && meanings[code]) || code || 'unknown fault';
}
