/** Keychains, by the system that has them: GNOME Keyring, KWallet and their like; macOS; Windows. */
export const keychainKinds = ['secret-service', 'macos', 'windows'] as const;
export type KeychainKind = (typeof keychainKinds)[number];

/** The keychain that goes with a platform of Node; `null` where there is none. */
export function keychainOf(platform: string): KeychainKind | null {
  if (platform === 'darwin') return 'macos';
  if (platform === 'win32') return 'windows';
  return platform === 'linux' || platform.endsWith('bsd') ? 'secret-service' : null;
}

/** What every entry of ours is filed under. */
const service = 'userinfo';

/** How a keychain is spoken to: command lines for the system's shell, and what they get on standard input. */
export interface KeychainTool {
  readonly name: string;
  readonly keep: {
    command(account: string): string;
    input(account: string, secret: string): string;
  };
  /** Prints the secret. */
  read(account: string): string;
  remove(account: string): string;
}

/** The name of an entry: nothing in it means anything to a shell. */
export const accountName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export const keychainTools: Readonly<Record<KeychainKind, KeychainTool>> = {
  'secret-service': {
    name: 'secret-tool',
    keep: {
      command: (account) =>
        `secret-tool store --label="${service} ${account}" service ${service} account ${account}`,
      input: (_, secret) => secret,
    },
    read: (account) => `secret-tool lookup service ${service} account ${account}`,
    remove: (account) => `secret-tool clear service ${service} account ${account}`,
  },
  macos: {
    name: 'security',
    keep: {
      // Its -w takes the secret as an argument, which every process sees; a command on standard input is seen by none.
      command: () => 'security -i',
      input: (account, secret) =>
        `add-generic-password -U -s ${service} -a ${account} -X ${Buffer.from(secret).toString('hex')}\n`,
    },
    read: (account) => `security find-generic-password -s ${service} -a ${account} -w`,
    remove: (account) => `security delete-generic-password -s ${service} -a ${account}`,
  },
  windows: {
    name: 'powershell',
    keep: {
      command: (account) =>
        powershell(
          `$vault.Add((New-Object ${credentials}.PasswordCredential('${service}','${account}',[Console]::In.ReadToEnd())))`,
        ),
      input: (_, secret) => secret,
    },
    read: (account) =>
      powershell(
        `$found=$vault.Retrieve('${service}','${account}');$found.RetrievePassword();[Console]::Out.Write($found.Password)`,
      ),
    remove: (account) => powershell(`$vault.Remove($vault.Retrieve('${service}','${account}'))`),
  },
};

const credentials = 'Windows.Security.Credentials';

/** A script over the vault of Windows, which Windows PowerShell reaches without a module; encoded, so that no quote is lost. */
function powershell(script: string): string {
  const load = (type: string) => `[void][${credentials}.${type},${credentials},ContentType=WindowsRuntime]`;
  const whole = [
    "$ErrorActionPreference='Stop'",
    load('PasswordVault'),
    load('PasswordCredential'),
    `$vault=New-Object ${credentials}.PasswordVault`,
    script,
  ].join(';');
  const encoded = Buffer.from(whole, 'utf16le').toString('base64');
  return `powershell.exe -NoProfile -NonInteractive -EncodedCommand ${encoded}`;
}
