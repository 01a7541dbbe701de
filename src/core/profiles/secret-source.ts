import { isUtf8 } from 'node:buffer';
import type { ChildProcess } from 'node:child_process';
import { getBuiltinModule } from 'node:process';
import { Secret } from '../signing/secret.js';
import { type EnvironmentVariables, quoteWhereNeeded } from '../support/shell.js';
import { CredentialError } from './errors.js';

/**
 * Where a profile's app secret is: in the profile file, in an environment variable, or in the
 * output of a command.
 */
export type SecretSource =
  | { readonly kind: 'file'; readonly value: Secret }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'command'; readonly command: string };

/** The location of the secret, for messages; never its value. */
export function describeSecretSource(source: SecretSource): string {
  switch (source.kind) {
    case 'file':
      return 'the profile file';
    case 'environment':
      return `the environment variable ${source.name}`;
    case 'command':
      return 'the output of a command';
  }
}

/**
 * Reads the secret, unchanged except for the line break at the end of a command's output; messages
 * call it `what`. `timeoutMs` bounds a command: by default long enough for a password manager that
 * asks the user to unlock it.
 *
 * @throws CredentialError, which never shows the output of the command
 */
export async function readSecret(
  source: SecretSource,
  env: EnvironmentVariables,
  { what = 'the app secret', timeoutMs = 30_000 } = {},
): Promise<Secret> {
  switch (source.kind) {
    case 'file':
      return source.value;
    case 'environment':
      return readVariable(source.name, env[source.name], what);
    case 'command':
      return readOutput(source.command, env, what, timeoutMs);
  }
}

function readVariable(name: string, value: string | undefined, what: string): Secret {
  if (value) return new Secret(value);
  const fault = value === undefined ? 'is not set' : 'is empty';
  throw new CredentialError(
    `the environment variable ${name}, which should hold ${what}, ${fault}`,
    {
      hint: `Set ${name}, or choose another source. The options are listed by:`,
      commands: ['userinfo profile set --help'],
    },
  );
}

const maxOutputBytes = 65_536;

/**
 * Time to read what an ended command printed, while a process that it left behind holds its output
 * open.
 */
const afterEndMs = 100;

/**
 * Runs a command line in the system's shell. Standard error is the terminal's, so that a password
 * manager can prompt. Standard input is empty: ours may contain the data of our own command. A
 * process that the command leaves in the background, such as an agent, is neither waited for nor
 * stopped.
 */
async function readOutput(
  command: string,
  env: EnvironmentVariables,
  what: string,
  timeoutMs: number,
): Promise<Secret> {
  const fault = (problem: string) =>
    new CredentialError(`the command that should print ${what} ${problem}`, {
      hint: 'Run it on its own to see the problem, or choose another. The options are listed by:',
      commands: ['userinfo profile set --help'],
    });
  const { spawn } = getBuiltinModule('node:child_process'); // few commands need it
  const child = spawn(command, {
    shell: true,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    windowsHide: true,
  });
  const output = await collectOutput(child, timeoutMs, fault);
  const { exitCode, signalCode } = child;
  if (signalCode !== null) throw fault(`was killed by ${signalCode}`);
  if (exitCode !== 0) throw fault(`ended with exit status ${exitCode}`);
  if (!isUtf8(output)) throw fault('printed text that is not UTF-8');
  const text = output.toString().replace(/\r?\n$/, '');
  if (text === '') throw fault('printed nothing');
  return new Secret(text);
}

/**
 * Returns what a command printed until its end. Stops it after `timeoutMs`, and if it prints too
 * much.
 *
 * @throws what `fault` makes of the problem
 */
async function collectOutput(
  child: ChildProcess,
  timeoutMs: number,
  fault: (problem: string) => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let timeout: NodeJS.Timeout | undefined;
  let afterEnd: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timeout = setTimeout(
        () => reject(fault(`took longer than ${timeoutMs / 1000} s and was stopped`)),
        timeoutMs,
      );
      child.stdout?.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > maxOutputBytes)
          reject(fault(`printed more than ${maxOutputBytes / 1024} KiB and was stopped`));
      });
      child.once('error', () => reject(fault('could not be started')));
      child.once('close', () => resolve());
      child.once('exit', () => {
        clearTimeout(timeout);
        // What is in the pipe is read between the timer and the callback, however late the timer
        // is.
        afterEnd = setTimeout(() => setImmediate(resolve), afterEndMs);
      });
    });
  } finally {
    clearTimeout(timeout);
    clearTimeout(afterEnd);
    child.kill('SIGKILL');
    child.stdout?.destroy();
    child.unref();
  }
  return Buffer.concat(chunks);
}

/** Advice to set a secret again: a sentence and its command. */
export function settingSecretAgain(
  profile: string | null,
  source: SecretSource,
): { readonly hint: string; readonly commands: readonly string[] } {
  if (source.kind === 'environment') return { hint: `Set ${source.name} again.`, commands: [] };
  if (source.kind === 'command' || profile === null)
    return { hint: 'Correct what the command prints.', commands: [] };
  const command = `userinfo profile set ${quoteWhereNeeded(profile)} --app-secret-stdin`;
  return { hint: 'Enter it again:', commands: [command] };
}
