/** The environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface CommandLimits {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export interface CommandOptions extends CommandLimits {
  /** What the command gets on standard input; nothing unless given. */
  readonly input?: string;
}

export type CommandOutcome =
  | { readonly kind: 'exited'; readonly status: number; readonly output: Uint8Array }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'too-much-output' }
  | { readonly kind: 'not-started'; readonly cause: Error };

/** Runs a command line and tells what became of it; never rejects. */
export type RunCommand = (command: string, options: CommandOptions) => Promise<CommandOutcome>;

/**
 * Runs command lines in the system's shell. Their standard error is the terminal's, so that a password manager can
 * say what it wants; they do not get our standard input, which may hold the data of our own command.
 */
export function shellRunner(env: EnvironmentVariables): RunCommand {
  return async (command, { timeoutMs, maxOutputBytes, input }) => {
    const { spawn } = await import('node:child_process');
    return new Promise((resolve) => {
      const child = spawn(command, {
        shell: true,
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
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
        child.stdin.destroy();
        child.stdout.destroy();
        child.unref();
        end(outcome);
      };
      const timer = setTimeout(() => stop({ kind: 'timed-out' }), timeoutMs);

      child.stdin.on('error', () => {}); // a command may end without reading
      child.stdin.end(input);
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
