// Only a line that may be too long for a terminal, and the topics of help, load it.
import wrapAnsi from 'wrap-ansi';

/** Breaks a line between words; what follows is indented as the line is. */
export function breakText(line: string, columns: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const width = columns - indent.length;
  return wrapAnsi(line.slice(indent.length), width, { trim: true }).replace(/^/gm, indent);
}
