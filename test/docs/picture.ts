import type xterm from '@xterm/headless';
import { Reader } from './reader.js';
import { screenRows } from './terminal-session.js';

/** Text of one look, from a column on. */
interface Run {
  readonly column: number;
  readonly look: string;
  text: string;
}

const columnWidth = 8.4;
const rowHeight = 17;
const margin = 16;

/** The colours of a terminal, by name of class, on light and on dark ground. */
const colors = {
  ground: ['#ffffff', '#16181d'],
  text: ['#24292f', '#d7dae0'],
  c1: ['#b3261e', '#ff7b72'],
  c2: ['#1a7f37', '#57c766'],
  c3: ['#8a6100', '#e3b341'],
  c4: ['#0550ae', '#79b8ff'],
  c5: ['#7b3fa8', '#d2a8ff'],
  c6: ['#0b6e7c', '#56d4dd'],
  c8: ['#6e7781', '#8b949e'],
} as const;

/** What a terminal shows of these commands, as SVG that follows the reader's colour scheme. */
export async function recordTerminal(page: string, commands: readonly string[]): Promise<string> {
  await using reader = await Reader.of(page, true);
  for (const [, preparation = ''] of page.matchAll(/<!-- run: (.+?) -->/g))
    await reader.prepare(preparation);
  const rows: Run[][] = [];
  for (const command of commands) {
    rows.push([
      { column: 0, look: 'c2 bold', text: '$' },
      { column: 2, look: '', text: command },
    ]);
    const screen = await reader.screen(command);
    const lines = screenRows(screen).flatMap((line) => line.rows.map((row) => runsOf(row, screen)));
    while (lines.at(-1)?.length === 0) lines.pop();
    for (const runs of lines) for (const run of runs) run.text = reader.shown(run.text);
    rows.push(...lines, []);
  }
  return drawn(rows.slice(0, -1));
}

/** The text of a picture, a line a row. */
export function textOf(svg: string): string[] {
  const rows = [...svg.matchAll(/^<text[^>]*>(.*)<\/text>$/gm)].map(([, row = '']) =>
    row.replace(/<[^>]*>/g, ' '),
  );
  return rows.map((row) =>
    row.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim(),
  );
}

function runsOf(row: xterm.IBufferLine, screen: xterm.Terminal): Run[] {
  const runs: Run[] = [];
  for (let column = 0; column < screen.cols; column += 1) {
    const cell = row.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const text = cell.getChars() || ' ';
    const color = cell.isFgPalette() ? `c${cell.getFgColor() % 8 || 8}` : '';
    const look = [color, cell.isBold() ? 'bold' : '', cell.isDim() ? 'c8' : '']
      .filter(Boolean)
      .join(' ');
    const last = runs.at(-1);
    // Wide characters, and what follows them, are put where the terminal has them.
    const isWide = cell.getWidth() === 2;
    if (last?.look === look && !isWide && !/[^\x00-\u2fff]$/.test(last.text)) last.text += text;
    else runs.push({ column, look, text });
  }
  return runs
    .map((run) => ({ ...run, text: run.text.trimEnd() }))
    .filter(({ text }) => text !== '');
}

function drawn(rows: readonly (readonly Run[])[]): string {
  const width = Math.ceil(80 * columnWidth + 2 * margin);
  const height = rows.length * rowHeight + 2 * margin;
  const rules = (scheme: 0 | 1) =>
    Object.entries(colors)
      .map(([name, both]) => `.${name}{fill:${both[scheme]}}`)
      .join('');
  const lines = rows.flatMap((runs, index) => (runs.length === 0 ? [] : [row(runs, index)]));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>userinfo in a terminal</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.bold{font-weight:bold}
${rules(0)}
@media(prefers-color-scheme:dark){${rules(1)}}
</style>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
${lines.join('\n')}
</svg>
`;
}

function row(runs: readonly Run[], index: number): string {
  const y = margin + index * rowHeight + 13;
  const spans = runs.map(({ column, look, text }) => {
    const x = (margin + column * columnWidth).toFixed(1);
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    // The same width in every font.
    const length = (textWidth(text) * columnWidth).toFixed(1);
    return `<tspan x="${x}" textLength="${length}"${look === '' ? '' : ` class="${look}"`}>${escaped}</tspan>`;
  });
  return `<text class="text" y="${y}" xml:space="preserve">${spans.join('')}</text>`;
}

const textWidth = (text: string) =>
  [...text].reduce((width, char) => width + (char > '\u2fff' ? 2 : 1), 0);
