/** The environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Words that need no quotes in a shell. */
const bareWord = /^[\p{L}\p{N}_.,:=@/+-]+$/u;

/** Quotes a text as one word of a POSIX shell. The caller refuses U+0000, which no shell can pass on. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a text only if it needs quotes. */
export function quoteWhereNeeded(text: string): string {
  return bareWord.test(text) ? text : quoteWord(text);
}
