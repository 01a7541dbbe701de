/** Letters and digits of any script, and `.` `_` `-` between them: safe to type, to quote and to print. */
const readableName = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u;

/** Whether a profile may have that name. */
export function isProfileName(name: string): boolean {
  return readableName.test(name) && !(name in Object.prototype);
}
