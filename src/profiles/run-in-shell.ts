import { spawn } from 'node:child_process';
import type { CommandLimits, CommandOutcome, EnvironmentVariables } from './run-command.js';

/**
 * Runs a command line in the system's shell. Its standard error is the terminal's, so that a password manager can
 * say what it wants; it does not get our standard input, which may hold the data of our own command.
 */
export function runInShell(
  command: string,
  env: EnvironmentVariables,
  { timeoutMs, maxOutputBytes }: CommandLimits,
): Promise<CommandOutcome> {
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
}
