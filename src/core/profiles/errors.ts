import { UserInfoError } from '../contract/errors.js';

/** An unknown, duplicate or invalid profile name. Nothing was changed. */
export class ProfileError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'ProfileError';
  readonly code = 'PROFILE';
}

/**
 * The profile file or its folder cannot be read, parsed or written. The file is unchanged. The
 * message begins with the path.
 */
export class ProfileFileError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'ProfileFileError';
  readonly code = 'PROFILE_FILE';
}

/** A required value is missing, or the app secret cannot be read from its source. */
export class CredentialError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'CredentialError';
  readonly code = 'CREDENTIALS';
}

/** The signing module of a profile cannot be loaded, or is not safe to load. */
export class SigningModuleError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'SigningModuleError';
  readonly code = 'SIGNING_MODULE';
}
