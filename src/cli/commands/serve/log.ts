import { exit } from 'node:process';
import { Option } from 'commander';

/** The options of the log. */
export const logOptions = (): Option[] => [
  new Option('--log-format <format>', 'log format').choices(['pretty', 'json']).default('pretty'),
  new Option('--log-level <level>', 'least important events to log')
    .choices(['info', 'warn', 'error'])
    .default('info'),
];

/**
 * An error that nobody handles ends the program with status 1, as in Node.js, but after `report`
 * has received its stack and `close` has ended.
 */
export function endWhenUnhandled(
  report: (problem: string) => void,
  close: () => Promise<void>,
): void {
  process.once('uncaughtException', (error) => {
    report(error instanceof Error ? (error.stack ?? error.message) : String(error));
    void close().finally(() => exit(1));
  });
}
