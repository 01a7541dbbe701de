import { Secret } from '../signing/secret.js';
import { describeFailure, outputText } from './command-output.js';
import { CredentialError } from './errors.js';
import { type KeychainKind, keychainTools } from './keychain-tools.js';
import type { CommandOutcome, RunCommand } from './run-command.js';

/** An unlocked keychain answers at once; a locked one asks for a password first, which somebody has to type. */
const timeoutMs = 30_000;
const maxOutputBytes = 65_536;

/**
 * A keychain of the operating system, reached by the tool that comes with it. A secret goes to that tool by standard
 * input, never as an argument. All methods but `remove` throw a CredentialError.
 */
export class Keychain {
  readonly #kind: KeychainKind;
  readonly #run: RunCommand;

  constructor(kind: KeychainKind, run: RunCommand) {
    this.#kind = kind;
    this.#run = run;
  }

  /** Keeps a secret under a name, and makes sure that it can be read back as it is; else nothing is kept. */
  async keep(account: string, secret: Secret): Promise<void> {
    const { keep } = keychainTools[this.#kind];
    const outcome = await this.#call(keep.command(account), keep.input(account, secret.reveal()));
    if (!succeeded(outcome)) throw this.#failed('did not take the app secret', outcome, nothingKept);
    const kept = await this.read(account).catch(() => null);
    if (kept?.reveal() === secret.reveal()) return;
    await this.remove(account);
    throw new CredentialError('the keychain does not give the app secret back as it was', {
      hint: nothingKept,
    });
  }

  async read(account: string): Promise<Secret> {
    const outcome = await this.#call(keychainTools[this.#kind].read(account));
    const text = succeeded(outcome) ? outputText(outcome.output) : null;
    if (text) return new Secret(text);
    throw this.#failed('has no app secret for this profile', outcome, howToKeep);
  }

  /** Whether the secret is gone, which is nobody's fault where it was not there. */
  async remove(account: string): Promise<boolean> {
    return succeeded(await this.#call(keychainTools[this.#kind].remove(account)));
  }

  #call(command: string, input?: string): Promise<CommandOutcome> {
    return this.#run(command, { timeoutMs, maxOutputBytes, ...(input === undefined ? {} : { input }) });
  }

  #failed(what: string, outcome: CommandOutcome, hint: string): CredentialError {
    const { name } = keychainTools[this.#kind];
    const how = isMissing(outcome)
      ? `${name} is not installed`
      : `${name} ${describeFailure(outcome, { timeoutMs, maxOutputBytes })}`;
    return new CredentialError(`the keychain ${what}: ${how}`, { hint });
  }
}

const nothingKept =
  'Nothing was stored. Other places: the profile file (--app-secret-stdin), a variable (-env), a command (-command).';
const howToKeep = 'Unlock it, or store the secret again: "userinfo profile set" with --app-secret-stdin.';

type Succeeded = Extract<CommandOutcome, { kind: 'exited' }>;

function succeeded(outcome: CommandOutcome): outcome is Succeeded {
  return outcome.kind === 'exited' && outcome.status === 0;
}

/** What the shells of the systems end with where there is no such command: sh, cmd.exe. */
function isMissing(outcome: CommandOutcome): boolean {
  return outcome.kind === 'exited' && [127, 9009].includes(outcome.status);
}
