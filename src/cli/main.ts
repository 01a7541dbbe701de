import module from 'node:module';
import { exitStatus } from './exit-status.js';
import { OutputError } from './io.js';
import { version } from './version.js';

/** The parts of `process` that the program is run by. */
type Host = Pick<NodeJS.Process, 'argv' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'exit'>;

/** Runs the command line of `host`, and exits with its status. */
export async function main(host: Host): Promise<void> {
  let failure: Error | undefined;
  host.stdout.on('error', (error) => {
    if (isClosedPipe(error)) host.exit(exitStatus.success);
    failure ??= error;
  });
  host.stderr.on('error', (error) => {
    if (isClosedPipe(error)) host.exit(exitStatus.success);
  });
  const status = await runOnce(host);
  // Not every writer waits for its stream: what went wrong there is known only after all is written.
  await written(host.stdout);
  const failed = status === exitStatus.success && failure;
  const finalStatus = failed ? await report(host, new OutputError(failed)) : status;
  await written(host.stderr);
  // Left to itself, the process would wait for what V8 still compiles.
  host.exit(finalStatus);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

async function runOnce(host: Host): Promise<number> {
  const args = host.argv.slice(2);
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    // Asked for by scripts, often: not worth loading anything for.
    host.stdout.write(`${version}\n`);
    return exitStatus.success;
  }
  if (args.length === 2 && args[0] === '__complete' && args[1] === 'profiles') {
    const { profileNames } = await import('./completion/profile-names.js');
    host.stdout.write(
      profileNames(host.env)
        .map((name) => `${name}\n`)
        .join(''),
    );
    return exitStatus.success;
  }
  (module as { enableCompileCache?: () => unknown }).enableCompileCache?.(); // Node 22.8 has it
  const { run } = await import('./run.js');
  return run(args, host, interruptOf(host));
}

async function report(host: Host, error: Error): Promise<number> {
  const { reportError } = await import('./report-error.js');
  return reportError(error, host, false);
}

/** Aborted by Ctrl-C and SIGTERM. */
function interruptOf(host: Host): AbortSignal {
  const interrupt = new AbortController();
  const end = () => {
    // The first asks the command to end well; the second does not wait for it.
    if (interrupt.signal.aborted) host.exit(exitStatus.interrupted);
    interrupt.abort(new DOMException('interrupted', 'AbortError'));
  };
  host.on('SIGINT', end).on('SIGTERM', end);
  return interrupt.signal;
}

/** Whoever read our output has gone (`| head`): there is nothing left to do, and nobody to tell. */
function isClosedPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE';
}
