/** Words of a command line that mean themselves in a shell. */
const bareWord = /^[\p{L}\p{N}_.,:=@/+-]+$/u;

/** A text as one word of a POSIX shell, whatever is in it. U+0000 is for the caller to refuse: no shell has it. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, without quotes where none are needed. */
export function quoteWhereNeeded(text: string): string {
  return bareWord.test(text) ? text : quoteWord(text);
}
