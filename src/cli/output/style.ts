import type { Io } from '../io.js';
import { type CommonOptions, type OutputFormat, outputFormat } from '../options.js';
import { colorsFor } from './color.js';
import type { TableStyle } from './data-table.js';
import type { Select } from './query.js';

/** How a command prints its data. */
export interface OutputStyle {
  readonly format: OutputFormat;
  readonly color: boolean;
  /** What is printed of the data, by `--query`; all of it unless given. */
  readonly select?: Select;
  /** Whether what is about a person is masked, before anything is selected. */
  readonly mask?: true;
}

/**
 * What the options and USERINFO_OUTPUT ask for. Throws an InvalidInputError, also for a `--query` that says nothing
 * sensible: to be called before anything is sent.
 */
export async function outputStyle(
  options: Pick<CommonOptions, 'output' | 'json' | 'query' | 'color' | 'mask'>,
  { env }: Io,
): Promise<OutputStyle> {
  const { color, mask } = options;
  const style = { format: outputFormat(options, env), color, ...(mask && { mask }) };
  if (style.format === 'yaml') await import('./yaml.js'); // it may need a package that is not installed
  if (options.query === undefined) return style;
  const { compileQuery } = await import('./query.js');
  return { ...style, select: compileQuery(options.query) };
}

/** Whether nothing is asked for but what a person reads by default. */
export function isPlainTable({ format, select }: OutputStyle): boolean {
  return format === 'table' && select === undefined;
}

/** The style of a table on stdout: wrapped and coloured as the terminal there can show it. */
export function tableStyle({ stdout, env }: Io, { color }: OutputStyle): TableStyle {
  return { colors: colorsFor(stdout, env, color), columns: stdout.isTTY ? stdout.columns : undefined };
}
