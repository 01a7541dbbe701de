// Only a line that may be too long for a terminal loads it.
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Breaks a line between words; what follows is indented as the line is. */
export function breakText(line: string, columns: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const width = columns - indent.length;
  return wrapAnsi(line.slice(indent.length), width, { trim: true }).replace(/^/gm, indent);
}

/** A word of a shell, with its quotes, in which white space is not a border. */
const shellWord = /(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g;

/** Breaks a command as a shell continues it: between words, after a backslash. */
export function breakCommand(command: string, columns: number): string[] {
  if (stringWidth(command) <= columns) return [command];
  const lines: string[] = [];
  for (const word of command.match(shellWord) ?? []) {
    const line = lines.at(-1);
    // For the blank and the backslash.
    if (line !== undefined && stringWidth(`${line} ${word}`) + 2 <= columns)
      lines.splice(-1, 1, `${line} ${word}`);
    else lines.push(line === undefined ? word : `    ${word}`);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}
