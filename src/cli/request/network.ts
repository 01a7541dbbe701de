import type { UserInfoClientOptions } from '../../client/call/options.js';
import { parseProxy, proxyFor } from '../../client/call/proxy.js';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import {
  describeOrigin,
  type Setting,
  settingNames,
} from '../../core/profiles/flags-and-environment.js';
import type { Settings } from '../../core/profiles/settings.js';
import { Secret } from '../../core/signing/secret.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import { readNamedFile } from '../input.js';
import type { Io } from '../io.js';

/**
 * The options by which a client reaches the service from this machine.
 *
 * @throws InvalidInputError for an unreadable CA file or an invalid proxy
 */
export async function networkOptions(
  settings: Pick<
    Settings,
    'base_url' | 'address' | 'ca_file' | 'client_cert' | 'client_key' | 'proxy'
  >,
  env: Io['env'],
): Promise<Pick<UserInfoClientOptions, 'extraCa' | 'cert' | 'key' | 'proxy'>> {
  const { ca_file, client_cert, client_key } = settings;
  const proxy = checkedProxy(settings, env);
  const certificate = await readClientCertificate(client_cert, client_key);
  return withoutUndefined({
    extraCa: await readAuthorities(ca_file, env.NODE_EXTRA_CA_CERTS),
    cert: certificate?.cert,
    key: certificate?.key,
    proxy: proxy?.address,
  });
}

/** @throws InvalidInputError for a proxy that is invalid, or that the base URL has no use for */
function checkedProxy(
  settings: Pick<Settings, 'base_url' | 'address' | 'proxy'>,
  env: Io['env'],
): NamedProxy | null {
  const proxy = proxyOf(settings, env);
  if (proxy === null) return null;
  if (settings.proxy?.origin.kind !== 'flag') {
    parseProxy(proxy.address, proxy.name);
    return proxy;
  }
  parseOpenProxy(proxy.address, proxy.name);
  if (settings.address().isLoopback) {
    throw new InvalidInputError('--proxy: requests to this machine never go through a proxy', {
      hint: 'Leave it out.',
    });
  }
  return proxy;
}

/** The address of a proxy, and what names it in messages: `--proxy`, a variable, a profile. */
interface NamedProxy {
  readonly address: string;
  readonly name: string;
}

/** The proxy of the settings, else of the environment; `null` if there is none. */
export function proxyOf(
  { base_url, proxy }: Pick<Settings, 'base_url' | 'proxy'>,
  env: Io['env'],
): NamedProxy | null {
  if (proxy !== null) return { address: proxy.value, name: describeOrigin(proxy.origin) };
  const ofEnvironment = proxyFor(base_url.value, env);
  return ofEnvironment && { address: ofEnvironment.address, name: ofEnvironment.variable };
}

/**
 * Parses the address of a proxy that an argument or a profile gives.
 *
 * @throws InvalidInputError for one that is invalid, or has a password
 */
export function parseOpenProxy(text: string, label: string): void {
  if (parseProxy(text, label).authorization === undefined) return;
  throw new InvalidInputError(
    `${label} has a user name or a password, which other users of the machine can read`,
    {
      hint: `Put the address into the variable ${settingNames.proxy.variable} instead.`,
    },
  );
}

/**
 * The address of a proxy for people: a user name and a password, which one of a variable may have,
 * are masked.
 */
export function showProxy(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/, '$1****@');
}

/** The text of a file that a setting names, and its name in messages. */
interface SettingFile {
  readonly text: string;
  readonly label: string;
}

/** @throws InvalidInputError for a file that cannot be read */
async function readSettingFile(
  { value, origin }: Setting<string>,
  what: string,
): Promise<SettingFile> {
  const label = `${what} ${quoteName(value)} (${describeOrigin(origin)})`;
  const text = await readNamedFile(value, label, { isKept: origin.kind === 'profile' });
  return { text, label };
}

/**
 * The client certificate with its key; none if there is neither.
 *
 * @throws InvalidInputError if one of the two is missing or cannot be read, or they are not a pair
 */
async function readClientCertificate(
  cert: Setting<string> | null,
  key: Setting<string> | null,
): Promise<{ readonly cert: string; readonly key: Secret } | undefined> {
  if (cert === null && key === null) return undefined;
  const certName = 'the client certificate';
  const keyName = 'the client key';
  const certFile = cert && (await readSettingFile(cert, certName));
  const keyFile = key && (await readSettingFile(key, keyName));
  const { checkClientCertificate } = await import('../../client/call/tls-trust.js');
  const pair = checkClientCertificate(certFile?.text, keyFile?.text, {
    cert: certFile?.label ?? certName,
    key: keyFile?.label ?? keyName,
  });
  return { cert: pair.cert, key: new Secret(pair.key) };
}

/** Adds NODE_EXTRA_CA_CERTS, which Node ignores if authorities are given explicitly. */
async function readAuthorities(
  file: Setting<string> | null,
  extraFile: string | undefined,
): Promise<string | undefined> {
  if (file === null) return undefined;
  const { text, label } = await readSettingFile(file, 'the CA file');
  const { checkAuthorities } = await import('../../client/call/tls-trust.js');
  checkAuthorities(text, label);
  if (!extraFile) return text;
  const extraLabel = `the file ${quoteName(extraFile)} (NODE_EXTRA_CA_CERTS)`;
  return `${text}\n${await readNamedFile(extraFile, extraLabel)}`;
}
