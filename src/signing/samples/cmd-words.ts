import { SampleError } from './sample-error.js';

/** Whether a command is written for cmd.exe: its escape stands before a quote, a per cent sign or a line's end. */
export function isCmd(text: string): boolean {
  return /\^(?:["%]|\r?\n)/.test(text);
}

/**
 * The words of a command for cmd.exe, as a browser copies it: first cmd takes its `^` away, then the program splits
 * what is left.
 *
 * @throws SampleError for a quote that is not closed
 */
export function splitCmdWords(text: string): string[] {
  return splitArguments(removeCarets(text));
}

/** Outside quotes `^` is taken away, a line's end after it too, and what follows it loses its meaning for cmd. */
function removeCarets(text: string): string {
  return text.replace(/"[^"]*"?|\^(?:\r?\n)?(\r?\n|.)?/gs, (whole, escaped: string = '') =>
    whole.startsWith('"') ? whole : escaped,
  );
}

const piece = /(\\*)(")|([ \t\r\n]+)|\\+|[^\s"\\]+/y;

/** Splits as the C runtime of Windows does: backslashes escape only where a quote follows them. */
function splitArguments(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quoted = false;
  for (let at = 0; at < text.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const [whole, slashes = '', quote, blank] = piece.exec(text) ?? [''];
    if (blank !== undefined && !quoted) {
      if (word !== null) words.push(word);
      word = null;
    } else if (quote === undefined) {
      word = (word ?? '') + whole;
    } else {
      word = (word ?? '') + '\\'.repeat(slashes.length / 2);
      if (slashes.length % 2 === 1) word += quote;
      else if (quoted && text[piece.lastIndex] === '"') {
        word += quote;
        piece.lastIndex += 1;
      } else quoted = !quoted;
    }
  }
  if (quoted) throw new SampleError('a quote of the curl command is not closed');
  return word === null ? words : [...words, word];
}
