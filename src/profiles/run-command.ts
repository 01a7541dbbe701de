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

/** Runs command lines in the system's shell. */
export function shellRunner(env: EnvironmentVariables): RunCommand {
  return async (command, limits) => {
    const { runInShell } = await import('./run-in-shell.js');
    return runInShell(command, env, limits);
  };
}
