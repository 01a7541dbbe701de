import type { UserInfoClientOptions } from '../client/options.js';
import { parseProxy } from '../client/proxy.js';
import { describeOrigin } from '../profiles/flags-and-environment.js';
import type { Settings } from '../profiles/settings.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { readNamedFile } from './input.js';
import type { Io } from './io.js';

/**
 * The options by which a client reaches the service from this machine.
 *
 * @throws InvalidInputError for an unreadable CA file or an invalid proxy
 */
export async function networkOptions(
  { base_url, allow_http, ca_file }: Pick<Settings, 'base_url' | 'allow_http' | 'ca_file'>,
  env: Io['env'],
): Promise<Pick<UserInfoClientOptions, 'allowHttp' | 'extraCa' | 'proxy'>> {
  const proxy = proxyFor(base_url.value, env);
  if (proxy !== null) parseProxy(proxy.address, proxy.variable);
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
 * The proxy for a base URL, and the variable that names it: HTTPS_PROXY or HTTP_PROXY by its scheme, unless NO_PROXY
 * lists its host. The lower-case names take precedence, as in curl. `null`: no proxy.
 */
export function proxyFor(baseUrl: string, env: Io['env']) {
  const { protocol, hostname, port } = new URL(baseUrl);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const variable = env[name.toLowerCase()] ? name.toLowerCase() : name;
  const address = env[variable];
  if (!address) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '').split(/[,\s]+/).filter((entry) => entry !== '');
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions.some((entry) => covers(entry, hostname, usedPort)) ? null : { address, variable };
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
