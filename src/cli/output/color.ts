import { Chalk, type ChalkInstance, type ColorSupportLevel } from 'chalk';
import { type Io, say, type Terminal } from '../io.js';

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
  return say(io, warning, `${colorsFor(io.stderr, io.env).yellow('warning:')} `);
}
