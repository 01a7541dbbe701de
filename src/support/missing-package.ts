import { UserInfoError } from './errors.js';

/** A part of this package needs another package, which is not installed. */
export class MissingPackageError extends UserInfoError {
  readonly code = 'MISSING_PACKAGE';

  /** `name` is that of the other package. */
  constructor(name: string, cause: unknown) {
    super(`the package ${name}, which this needs, is not installed`, {
      hint: `Run "npm install ${name}", or install userinfo-cli without --omit=optional.`,
      cause,
    });
  }
}

const missing = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[^@./'][^/']*)/;

/** What an import threw; a MissingPackageError in its place where a package was not found. */
export function explainMissing(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MissingPackageError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return error;
  const name = missing.exec(message)?.[1];
  return name === undefined ? error : new MissingPackageError(name, error);
}

/**
 * Loads a part of the program that needs packages of its own.
 *
 * @throws MissingPackageError where one is not installed, as after `npm install --omit=optional`
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw explainMissing(error);
  }
}
