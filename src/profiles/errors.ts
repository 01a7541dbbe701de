import { UserInfoError } from '../protocol/errors.js';

/** A profile that is unknown, there already, or badly named. Nothing was changed. */
export class ProfileError extends UserInfoError {
  readonly code = 'PROFILE';
}

/**
 * The profile file or its folder cannot be read, understood or written. The file is as it was before.
 * The message begins with the path.
 */
export class ProfileFileError extends UserInfoError {
  readonly code = 'PROFILE_FILE';
}

/** A value that every request needs is missing, or the secret cannot be had from where it is kept. */
export class CredentialError extends UserInfoError {
  readonly code = 'CREDENTIALS';
}

/** The module that signs for a profile cannot be loaded, or must not be. */
export class SigningModuleError extends UserInfoError {
  readonly code = 'SIGNING_MODULE';
}
