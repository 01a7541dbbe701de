import { UserInfoError } from '../protocol/errors.js';

/** An unknown, duplicate or invalid profile name. Nothing was changed. */
export class ProfileError extends UserInfoError {
  readonly code = 'PROFILE';
}

/**
 * The profile file or its folder cannot be read, parsed or written. The file is unchanged. The message begins with
 * the path.
 */
export class ProfileFileError extends UserInfoError {
  readonly code = 'PROFILE_FILE';
}

/** A required value is missing, or the app secret cannot be read from its source. */
export class CredentialError extends UserInfoError {
  readonly code = 'CREDENTIALS';
}

/** The signing module of a profile cannot be loaded, or is not safe to load. */
export class SigningModuleError extends UserInfoError {
  readonly code = 'SIGNING_MODULE';
}
