// The TAB key loads this and nothing else of the profiles.

/** The profile file, in the configuration folder. */
export const profileFileName = 'profiles.json';

/**
 * Letters and digits of any script, with `.` `_` `-` between them: safe to type, to quote and to
 * print.
 */
const readableName = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u;

/** Most names, matched without Unicode tables, which V8 loads slowly. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether this is a valid name of a profile. */
export function isProfileName(name: string): boolean {
  return (plainName.test(name) || readableName.test(name)) && !(name in Object.prototype);
}
