import { Chalk, type ChalkInstance, type ColorSupportLevel } from 'chalk';
import { InvalidInputError } from '../../core/contract/errors.js';
import {
  type CommonOptions,
  type OutputFormat,
  outputFormats,
  parseSwitch,
} from '../command-line/options.js';
import { type Io, printMessage, type Terminal } from '../io.js';
import type { Select } from './query.late.js';

/**
 * Colours for a stream: as the variables that other programs use too say, otherwise if it is a
 * terminal.
 */
export function colorsFor(stream: Terminal<unknown>, env: Io['env']): ChalkInstance {
  return new Chalk({ level: colorLevel(stream, env) });
}

function colorLevel(stream: Terminal<unknown>, env: Io['env']): ColorSupportLevel {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (NO_COLOR || FORCE_COLOR === '0' || FORCE_COLOR === 'false') return 0;
  if (FORCE_COLOR !== undefined) return 1;
  return stream.isTTY && TERM !== 'dumb' ? 1 : 0;
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
  readonly mask?: boolean;
}

/**
 * The output style from the options, else USERINFO_OUTPUT. Call it before anything is sent.
 *
 * @throws InvalidInputError for an unknown format or an invalid `--query`
 */
export async function outputStyle(
  options: Pick<CommonOptions, 'output' | 'json' | 'query' | 'mask'>,
  { stdout, env }: Io,
): Promise<OutputStyle> {
  const mask = isMasked(options.mask, { stdout, env });
  const style = {
    format: outputFormat(options, env),
    colors: colorsFor(stdout, env),
    columns: stdout.isTTY ? stdout.columns : undefined,
    mask,
  };
  if (options.query === undefined) return style;
  const { compileQuery } = await import('./query.late.js');
  return { ...style, select: compileQuery(options.query) };
}

function outputFormat(
  { output, json }: Pick<CommonOptions, 'output' | 'json'>,
  { USERINFO_OUTPUT }: Io['env'],
): OutputFormat {
  if (json) return 'json';
  if (output !== undefined) return output;
  const format = outputFormats.find((name) => name === (USERINFO_OUTPUT || 'table'));
  if (format !== undefined) return format;
  throw new InvalidInputError(`USERINFO_OUTPUT is ${JSON.stringify(USERINFO_OUTPUT)}`, {
    hint: `Set it to one of ${outputFormats.join(', ')}.`,
  });
}

/** A file or a pipe is often for another command, which needs the values: a variable masks none. */
function isMasked(mask: true | undefined, { stdout, env }: Pick<Io, 'stdout' | 'env'>): boolean {
  if (mask) return true;
  return parseSwitch(env.USERINFO_MASK ?? '', 'USERINFO_MASK') && stdout.isTTY === true;
}

/** Whether the output is the default table, without a query. */
export function isPlainTable({ format, select }: OutputStyle): boolean {
  return format === 'table' && select === undefined;
}

/** JSON lines unless another format is asked for: there may be more items than fit into memory. */
export function linesByDefault({
  io,
  options,
  style,
}: {
  readonly io: Pick<Io, 'env'>;
  readonly options: Pick<CommonOptions, 'output'>;
  readonly style: OutputStyle;
}): OutputStyle {
  const isAsked = options.output !== undefined || Boolean(io.env.USERINFO_OUTPUT);
  if (isAsked || style.format !== 'table') return style;
  return { ...style, format: 'ndjson' };
}
