import { type Io, say } from '../io.js';
import { colorsFor } from './color.js';
import { showText } from './terminal-text.js';

/** A warning on stderr. */
export function warn(io: Io, warning: string): Promise<void> {
  return say(io, `${colorsFor(io.stderr, io.env).yellow('warning:')} ${showText(warning)}`);
}
