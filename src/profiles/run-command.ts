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

/** Runs command lines in the system's shell. */
export function shellRunner(env: EnvironmentVariables): RunCommand {
  return async (command, options) => {
    const { runInShell } = await import('./run-in-shell.js');
    return runInShell(command, env, options);
  };
}
