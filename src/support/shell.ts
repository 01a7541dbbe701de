import type { SpawnSyncReturns } from 'node:child_process';
import { getBuiltinModule } from 'node:process';

/** The environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

interface CommandLimits {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** How a command ended: `error` says why it was not started, or was stopped. */
export type CommandOutcome = Pick<SpawnSyncReturns<Uint8Array>, 'status' | 'signal' | 'stdout' | 'error'>;

/** Runs a command line to its end. */
export type RunCommand = (command: string, limits: CommandLimits) => CommandOutcome;

/**
 * Runs command lines in the system's shell. Standard error is the terminal's, so that a password manager can
 * prompt. Standard input is empty: ours may contain the data of our own command.
 */
export function shellRunner(env: EnvironmentVariables): RunCommand {
  return (command, { timeoutMs, maxOutputBytes }) => {
    const { spawnSync } = getBuiltinModule('node:child_process'); // few commands need it
    return spawnSync(command, {
      shell: true,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      windowsHide: true,
      timeout: timeoutMs,
      maxBuffer: maxOutputBytes,
      killSignal: 'SIGKILL',
    });
  };
}

/** Words that need no quotes in a shell. */
const bareWord = /^[\p{L}\p{N}_.,:=@/+-]+$/u;

/** Quotes a text as one word of a POSIX shell. The caller refuses U+0000, which no shell can pass on. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a text only if it needs quotes. */
export function quoteWhereNeeded(text: string): string {
  return bareWord.test(text) ? text : quoteWord(text);
}
