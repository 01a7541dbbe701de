/** The environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface CommandLimits {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export type CommandOutcome =
  | { readonly kind: 'exited'; readonly status: number; readonly output: Uint8Array }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'too-much-output' }
  | { readonly kind: 'not-started'; readonly cause: Error };

/** Runs a command line and resolves with its outcome; never rejects. */
export type RunCommand = (command: string, limits: CommandLimits) => Promise<CommandOutcome>;

/**
 * Runs command lines in the system's shell. Standard error is the terminal's, so that a password manager can say what
 * it wants; standard input is empty: ours may hold the data of our own command.
 */
export function shellRunner(env: EnvironmentVariables): RunCommand {
  return async (command, { timeoutMs, maxOutputBytes }) => {
    const { spawn } = await import('node:child_process'); // few commands need it
    return new Promise((resolve) => {
      const child = spawn(command, {
        shell: true,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
        windowsHide: true,
      });
      const chunks: Uint8Array[] = [];
      let bytes = 0;

      const end = (outcome: CommandOutcome) => {
        clearTimeout(timer);
        resolve(outcome);
      };
      // The shell's own children may live on and hold the pipe: nobody waits for them.
      const stop = (outcome: CommandOutcome) => {
        child.kill('SIGKILL');
        child.stdout.destroy();
        child.unref();
        end(outcome);
      };
      const timer = setTimeout(() => stop({ kind: 'timed-out' }), timeoutMs);

      child.stdout.on('data', (chunk: Uint8Array) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxOutputBytes) stop({ kind: 'too-much-output' });
      });
      child.on('error', (cause) => end({ kind: 'not-started', cause }));
      child.on('close', (status, signal) => {
        if (status === null) end({ kind: 'killed', signal: signal ?? 'unknown signal' });
        else end({ kind: 'exited', status, output: Buffer.concat(chunks) });
      });
    });
  };
}

/** Words of a command line that mean themselves in a shell. */
const bareWord = /^[\p{L}\p{N}_.,:=@/+-]+$/u;

/** A text as one word of a POSIX shell, whatever is in it. U+0000 is for the caller to refuse: no shell has it. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, without quotes where none are needed. */
export function quoteWhereNeeded(text: string): string {
  return bareWord.test(text) ? text : quoteWord(text);
}
