/** A command that a page shows, with what it shows of the output. */
export interface ShownCommand {
  readonly command: string;
  readonly output: readonly string[];
}

/**
 * The commands of a `console` block: lines behind `$ `, and the lines that follow a backslash.
 * Output without a command is that of the command that stays.
 */
export function commandsOf(block: string): ShownCommand[] {
  const found: { command: string; output: string[] }[] = [];
  let isContinued = false;
  for (const line of block.trimEnd().split('\n')) {
    const last = found.at(-1);
    if (isContinued && last !== undefined) last.command += `\n${line}`;
    else if (line.startsWith('$ ')) found.push({ command: line.slice(2), output: [] });
    else if (last !== undefined) last.output.push(line);
    else found.push({ command: '', output: [line] });
    isContinued = (isContinued || line.startsWith('$ ')) && line.endsWith('\\');
  }
  return found;
}

/** What differs from run to run, each as what it is taken for; a figure keeps its unit. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z| [+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, '<time>'],
  [/\bat \d\d:\d\d(:\d\d)?\b/g, 'at <time>'],
  [/\bapp_[0-9a-f]{16}\b/g, '<app key>'],
  [/\b(random[=:] ?)[\w*-]{8,}/g, '$1<random>'],
  [/("request_id":")[0-9a-f]{20}\b/g, '$1<random>'],
  [/\b[0-9a-f]{32,}\b/gi, '<hex>'],
  [/\b[0-9a-f]{8}…/g, '<hex>…'],
  [/\b[0-9a-f]{3,4}\*{4}[0-9a-f]{3,4}\b/g, '<masked>'],
  [/(?<=\b(?:timestamp=|app-1))1[78]\d{8}\b/g, '<timestamp>'],
  [/\b(run |│ )[0-9a-f]{10}\b/g, '$1<run>'],
  [/^[0-9a-f]{10}$/g, '<run>'],
  [/\d[\d,.]* ?(ms|min|s|days left|rows\/s|recipes)\b/g, '<n> $1'],
];

/** The line without what varies; columns and frames get the width that is left to them. */
function settled(line: string): string {
  const text = varying.reduce((rest, [pattern, name]) => rest.replace(pattern, name), line);
  return text.replace(/ +/g, ' ').replace(/─+/g, '─').trimEnd();
}

/** The lines between those of `…`, each of which stands for any number of lines. */
function partsOf(shown: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const line of shown) line === '…' ? parts.push([]) : parts.at(-1)?.push(line);
  return parts;
}

/** Whether a page shows what was printed. */
export function showsSame(shown: readonly string[], printed: readonly string[]): boolean {
  const lines = printed.map(settled);
  const parts = partsOf(shown.map(settled));
  let next = 0;
  return parts.every((part, index) => {
    const isLast = index === parts.length - 1;
    const starts = index === 0 ? [0] : isLast ? [lines.length - part.length] : [...lines.keys()];
    const at = starts.find(
      (start) => start >= next && part.every((line, offset) => lines[start + offset] === line),
    );
    next = (at ?? 0) + part.length;
    return at !== undefined && (!isLast || next === lines.length);
  });
}

/**
 * What a page must show: where it left out lines, the beginning and the end, as many lines of each
 * as before.
 */
export function corrected(shown: readonly string[], printed: readonly string[]): readonly string[] {
  if (showsSame(shown, printed)) return shown;
  const [head = [], ...others] = partsOf(shown);
  const tail = others.at(-1);
  if (tail === undefined) return printed;
  return [...printed.slice(0, head.length), '…', ...printed.slice(printed.length - tail.length)];
}
