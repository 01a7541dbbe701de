import manifest from '../../package.json' with { type: 'json' };
import { exitStatus } from './exit-status.js';
import type { ClosedOutput } from './io.js';

/** The parts of `process` that the program uses. */
type Host = Pick<
  NodeJS.Process,
  'argv' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'listenerCount' | 'exit'
>;

/** Maximum time to wait at the end for a slow reader of stderr, in milliseconds. */
const slowReaderMs = 1000;

/** Runs the command line of `host`, and exits with its status. */
export async function main(host: Host): Promise<void> {
  const args = host.argv.slice(2);
  let failure: Error | undefined;
  const closed: ClosedOutput = { status: exitStatus.success };
  // The reader of the messages may exit: the command goes on without it.
  host.stderr.on('error', () => {});
  host.stdout.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= error;
    if (error.code !== 'EPIPE') return;
    // The reader of the data has exited (`| head`): there is nothing left to do.
    if (closed.message !== undefined) host.stderr.write(`error: ${closed.message}\n`);
    host.exit(closed.status);
  });
  let status = await runCommand(args, host, closed).catch((error) => reportLast(error, host));
  // Some writers do not wait for their stream: their errors are known only after everything is
  // written.
  await written(host.stdout);
  if (status === exitStatus.success && failure !== undefined)
    status = await reportUnwritten(host, failure);
  await Promise.race([
    written(host.stderr),
    new Promise((resolve) => setTimeout(resolve, slowReaderMs)),
  ]);
  // Without this, the process would wait for V8's background compilation.
  host.exit(status);
}

async function runCommand(
  args: readonly string[],
  host: Host,
  closed: ClosedOutput,
): Promise<number> {
  const quickAnswer = await answerQuickly(args, host.env);
  if (quickAnswer !== undefined) {
    host.stdout.write(quickAnswer);
    return exitStatus.success;
  }
  const { run } = await import('./program.js');
  return run(args, { ...host, closed }, interruptOf(host), uncaughtOf(host));
}

/** Answers frequent requests of scripts and of the TAB key without loading the program. */
async function answerQuickly(
  args: readonly string[],
  env: Host['env'],
): Promise<string | undefined> {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V'))
    return `${manifest.version}\n`;
  if (args[0] !== '__complete') return undefined;
  const { builtTable, candidates } = await import('./commands/completion/candidates.js');
  return candidates(builtTable(), args.slice(1), env)
    .map((line) => `${line}\n`)
    .join('');
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

async function reportUnwritten(host: Host, failure: Error): Promise<number> {
  const { OutputError } = await import('./io.js');
  return reportLast(new OutputError(failure), host);
}

/** Reports an error outside of the run of a command. */
async function reportLast(error: unknown, host: Host): Promise<number> {
  const { reportError } = await import('./report-error.js');
  return reportError(error, host, {});
}

/**
 * Rejected by an error that is thrown where nobody can catch it, as pg does at a message that it
 * cannot read. A command with a log has a listener of its own, and then nothing rejects it.
 */
function uncaughtOf(host: Host): Promise<never> {
  return new Promise((_, reject) => {
    host.on('uncaughtException', (error) => {
      if (host.listenerCount('uncaughtException') === 1) reject(error);
    });
  });
}

/** Aborted by Ctrl-C, SIGTERM and SIGHUP. */
function interruptOf(host: Host): AbortSignal {
  const interrupt = new AbortController();
  const end = () => interrupt.abort(new DOMException('interrupted', 'AbortError'));
  const endOrExit = () => {
    // The first asks the command to stop cleanly; the second exits at once.
    if (interrupt.signal.aborted) host.exit(exitStatus.interrupted);
    end();
  };
  const terminate = () => {
    const isAgain = interrupt.signal.aborted;
    // A command may handle it, as `serve` does: whoever runs a service sends it again to hurry.
    if (isAgain && !interrupt.signal.dispatchEvent(new Event('terminate', { cancelable: true })))
      return;
    endOrExit();
  };
  // A terminal that closes sends SIGHUP, and its shell may send it again: do not treat that as a
  // second request.
  host.on('SIGINT', endOrExit).on('SIGTERM', terminate).on('SIGHUP', end);
  return interrupt.signal;
}
