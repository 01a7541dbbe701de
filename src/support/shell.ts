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
 * Runs command lines in the system's shell. Standard error is the terminal's, so that a password manager can
 * prompt. Standard input is empty: ours may contain the data of our own command.
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
      // Children of the shell may survive and keep the pipe open: do not wait for them.
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

/** Words that need no quotes in a shell. */
const bareWord = /^[\p{L}\p{N}_.,:=@/+-]+$/u;

/** Quotes a text as one word of a POSIX shell. The caller refuses U+0000, which no shell can pass on. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a text only if it needs quotes. */
export function quoteWhereNeeded(text: string): string {
  return bareWord.test(text) ? text : quoteWord(text);
}
