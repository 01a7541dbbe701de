import type { UserInfoClientOptions } from '../client/options.js';
import { parseProxy } from '../client/proxy.js';
import { describeOrigin, settingNames } from '../profiles/flags-and-environment.js';
import type { Settings } from '../profiles/settings.js';
import { isLoopback } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { readNamedFile } from './input.js';
import type { Io } from './io.js';

/**
 * How a client reaches the service from this machine.
 *
 * @throws InvalidInputError for an unreadable CA file or an invalid proxy
 */
export async function networkOptions(
  settings: Pick<Settings, 'base_url' | 'allow_http' | 'ca_file' | 'proxy'>,
  env: Io['env'],
): Promise<Pick<UserInfoClientOptions, 'allowHttp' | 'extraCa' | 'proxy'>> {
  const { allow_http, ca_file } = settings;
  const proxy = proxyFor(settings, env);
  const isArgument = settings.proxy?.origin.kind === 'flag';
  if (proxy !== null) (isArgument ? parseOpenProxy : parseProxy)(proxy.address, proxy.name);
  if (isArgument && isLoopback(new URL(settings.base_url.value).hostname)) {
    throw new InvalidInputError('--proxy: requests to this machine never go through a proxy', {
      sent: 'nothing',
      hint: 'Leave it out.',
    });
  }
  return {
    allowHttp: allow_http !== null,
    ...(ca_file === null ? {} : { extraCa: await readAuthorities(ca_file, env.NODE_EXTRA_CA_CERTS) }),
    ...(proxy === null ? {} : { proxy: proxy.address }),
  };
}

/** Adds NODE_EXTRA_CA_CERTS, which Node ignores if authorities are given explicitly. */
async function readAuthorities(
  file: NonNullable<Settings['ca_file']>,
  extra: string | undefined,
): Promise<string> {
  const label = `the CA file ${quoteName(file.value)} (${describeOrigin(file.origin)})`;
  const ours = await readNamedFile(file.value, label, { isKept: file.origin.kind === 'profile' });
  const { checkAuthorities } = await import('../client/tls-trust.js');
  checkAuthorities(ours, label);
  if (!extra) return ours;
  return `${ours}\n${await readNamedFile(extra, `the file ${quoteName(extra)} (NODE_EXTRA_CA_CERTS)`)}`;
}

/**
 * Parses the address of a proxy that an argument or a profile gives.
 *
 * @throws InvalidInputError for one that is invalid, or has a password
 */
export function parseOpenProxy(text: string, label: string): void {
  if (parseProxy(text, label).token === undefined) return;
  throw new InvalidInputError(
    `${label} has a user name or a password, which other users of the machine can read`,
    {
      sent: 'nothing',
      hint: `Put the address into the variable ${settingNames.proxy.variable} instead.`,
    },
  );
}

/**
 * The proxy for a base URL, and what names it: `--proxy`, USERINFO_PROXY or the profile, else HTTPS_PROXY or HTTP_PROXY
 * by its scheme, unless NO_PROXY lists its host. The lower-case names take precedence, as in curl. `null`: no proxy.
 */
export function proxyFor(
  { base_url, proxy }: Pick<Settings, 'base_url' | 'proxy'>,
  env: Io['env'],
): { readonly address: string; readonly name: string } | null {
  if (proxy !== null) return { address: proxy.value, name: describeOrigin(proxy.origin) };
  const { protocol, hostname, port } = new URL(base_url.value);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const variable = env[name.toLowerCase()] ? name.toLowerCase() : name;
  const address = env[variable];
  if (!address) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '').split(/[,\s]+/).filter((entry) => entry !== '');
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions.some((entry) => covers(entry, hostname, usedPort)) ? null : { address, name: variable };
}

/**
 * Whether an entry of NO_PROXY matches: `*` any host; a name, `.name` and `*.name` that host and its subdomains;
 * `:port` limits it to a port.
 */
function covers(entry: string, hostname: string, port: string): boolean {
  if (entry === '*') return true;
  const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
  const isIpv6 = name.includes(':') && !name.startsWith('[');
  const covered = (isIpv6 ? `[${entry}]` : name.replace(/^\*?\./, '')).toLowerCase();
  if (!isIpv6 && onlyPort !== undefined && onlyPort !== port) return false;
  return hostname === covered || hostname.endsWith(`.${covered}`);
}
