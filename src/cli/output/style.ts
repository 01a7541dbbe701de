import { Chalk, type ChalkInstance, type ColorSupportLevel } from 'chalk';
import { InvalidInputError } from '../../protocol/errors.js';
import { type Io, printMessage, type Terminal } from '../io.js';
import { type CommonOptions, type OutputFormat, outputFormats } from '../options.js';
import type { Select } from './query.js';

/**
 * Colours for a stream: none with NO_COLOR or `--no-color`, always with FORCE_COLOR, otherwise if it is a
 * terminal.
 */
export function colorsFor(stream: Terminal<unknown>, env: Io['env'], wanted = true): ChalkInstance {
  return new Chalk({ level: colorLevel(stream, env, wanted) });
}

function colorLevel(stream: Terminal<unknown>, env: Io['env'], wanted: boolean): ColorSupportLevel {
  if (!wanted || env.NO_COLOR) return 0;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false' ? 0 : 1;
  return stream.isTTY && env.TERM !== 'dumb' ? 1 : 0;
}

/** Writes a warning to stderr. */
export function warn(io: Io, warning: string): Promise<void> {
  return printMessage(io, warning, `${colorsFor(io.stderr, io.env).yellow('warning:')} `);
}

/** The format of a command's output. */
export interface OutputStyle {
  readonly format: OutputFormat;
  readonly colors: ChalkInstance;
  /** The width of the terminal; without it nothing is wrapped. */
  readonly columns: number | undefined;
  /** From `--query`; without it all data is printed. */
  readonly select?: Select;
  /** Whether personal data is masked, before the query. */
  readonly mask?: true;
}

/**
 * The output style from the options, else USERINFO_OUTPUT. Call it before anything is sent.
 *
 * @throws InvalidInputError for an unknown format or an invalid `--query`
 */
export async function outputStyle(
  options: Pick<CommonOptions, 'output' | 'json' | 'query' | 'color' | 'mask'>,
  { stdout, env }: Io,
): Promise<OutputStyle> {
  const { color, mask, output, json } = options;
  const wanted = json ? 'json' : (output ?? (env.USERINFO_OUTPUT || 'table'));
  const format = outputFormats.find((known) => known === wanted);
  if (format === undefined) {
    throw new InvalidInputError(`USERINFO_OUTPUT is ${JSON.stringify(wanted)}`, {
      hint: `Set it to one of ${outputFormats.join(', ')}.`,
    });
  }
  const columns = stdout.isTTY ? stdout.columns : undefined;
  const style = { format, colors: colorsFor(stdout, env, color), columns, ...(mask && { mask }) };
  if (options.query === undefined) return style;
  const { compileQuery } = await import('./query.js');
  return { ...style, select: compileQuery(options.query) };
}

/** Whether the output is the default table, without a query. */
export function isPlainTable({ format, select }: OutputStyle): boolean {
  return format === 'table' && select === undefined;
}
