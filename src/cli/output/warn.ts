import { type Io, say } from '../io.js';
import { colorsFor } from './color.js';

/** A warning on stderr. */
export function warn(io: Io, warning: string): Promise<void> {
  return say(io, warning, `${colorsFor(io.stderr, io.env).yellow('warning:')} `);
}
