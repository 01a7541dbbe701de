import type { CommandLimits, CommandOutcome } from './run-command.js';

/** In words that follow "the command", why it did not do what it should. */
export function describeFailure(
  outcome: CommandOutcome,
  { timeoutMs, maxOutputBytes }: CommandLimits,
): string {
  switch (outcome.kind) {
    case 'exited':
      return `ended with exit status ${outcome.status}`;
    case 'killed':
      return `was ended by ${outcome.signal}`;
    case 'timed-out':
      return `took longer than ${timeoutMs / 1000} s and was stopped`;
    case 'too-much-output':
      return `printed more than ${maxOutputBytes / 1024} KiB and was stopped`;
    case 'not-started':
      return 'could not be started';
  }
}

/** What a command printed, without the line break at its end; `null` where that is not UTF-8. */
export function outputText(output: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(output).replace(/\r?\n$/, '');
  } catch {
    return null;
  }
}
