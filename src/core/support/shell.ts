/** The environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Words that need no quotes in a shell. */
const bareWord = /^[\p{L}\p{N}_.,:=@/+-]+$/u;

/**
 * A text as one word of a POSIX shell, in quotes if it needs them. The caller refuses U+0000, which
 * no shell can pass on.
 */
export function quoteWhereNeeded(text: string): string {
  if (bareWord.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
