import { createContext } from './create-context.js';
import { exitStatus } from './exit-status.js';
import type { Io } from './io.js';
import type { CommonOptions } from './options.js';
import { buildProgram } from './program.js';
import { reportError } from './report-error.js';
import { refuseDamaged } from './utf8.js';

/** Runs one command line (without `node` and the script) to its end, and returns the exit status. */
export async function run(args: readonly string[], io: Io, signal: AbortSignal): Promise<number> {
  const context = createContext(io, signal, args);
  const program = await buildProgram(context, args);
  try {
    refuseDamaged(args, io.env);
    await program.parseAsync(args, { from: 'user' });
    return exitStatus.success;
  } catch (error) {
    return reportError(error, io, program.opts<CommonOptions>().verbose === true);
  }
}
