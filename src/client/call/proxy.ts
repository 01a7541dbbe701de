// Commands read the address of a proxy without undici.
import { InvalidInputError } from '../../core/contract/errors.js';
import type { EnvironmentVariables } from '../../core/support/shell.js';

/** The address and the credentials of a proxy. */
export interface HttpProxy {
  /** Scheme, host and port, without user name and password. */
  readonly url: string;
  /** Host and port. */
  readonly host: string;
  /** The value of `Proxy-Authorization`; absent if the address has no user. */
  readonly authorization?: string;
}

/** A host for messages, with the proxy on the way to it. */
export function nameHost(host: string, proxy: HttpProxy | null): string {
  if (proxy === null) return host;
  return `${host} through the proxy ${proxy.host}`;
}

/**
 * Parses the address of a proxy as in environment variables: `http://user:password@host:3128`, or
 * `host:3128`.
 *
 * @throws InvalidInputError that begins with `label` and does not repeat the text, which may hold a
 * password
 */
export function parseProxy(text: string, label = 'proxy'): HttpProxy {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  // A "/", "?" or "#" in a password ends the host: what is before it would be looked up as a name.
  const isWhole = url !== null && /^\/?$/.test(url.pathname + url.search + url.hash);
  if (!isWhole || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new InvalidInputError(`${label} is not the address of an http proxy`, {
      hint: 'Write it as http://host:port, or http://user:password@host:port with special characters percent-encoded; proxies of other kinds are not supported.',
    });
  }
  const { origin, host, username, password } = url;
  if (username === '' && password === '') return { url: origin, host };
  const credentials = `${decodePart(username, label)}:${decodePart(password, label)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: origin, host, authorization };
}

function decodePart(encoded: string, label: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new InvalidInputError(
      `${label} has a user name or password that is not percent-encoded`,
      {
        hint: 'Write a % in it as %25.',
      },
    );
  }
}

/** A proxy that an environment variable names. */
interface ProxyVariable {
  readonly variable: string;
  /** The value of the variable; it may have a password. */
  readonly address: string;
}

/** The variables that name a proxy, and the default ports, by the scheme of a URL. */
const schemes = {
  http: { variables: ['http_proxy', 'HTTP_PROXY'], port: '80' },
  https: { variables: ['https_proxy', 'HTTPS_PROXY'], port: '443' },
} as const;

/**
 * The proxy for a base URL: HTTPS_PROXY or HTTP_PROXY by its scheme, unless NO_PROXY lists its
 * host. The lower-case names take precedence, as in curl. `null`: no proxy.
 */
export function proxyFor(baseUrl: string, env: EnvironmentVariables): ProxyVariable | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  const scheme = schemes[protocol === 'https:' ? 'https' : 'http'];
  const variable = scheme.variables.find((name) => env[name]);
  if (variable === undefined) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '')
    .split(/[,\s]+/)
    .filter((entry) => entry !== '');
  if (exceptions.some((entry) => covers(entry, hostname, port || scheme.port))) return null;
  return { variable, address: env[variable] ?? '' };
}

/**
 * Whether an entry of NO_PROXY matches: `*` any host; a name, `.name` and `*.name` that host and
 * its subdomains; `:port` limits it to a port; an address and a number of bits, such as
 * `10.0.0.0/8`, the addresses of that network.
 */
function covers(entry: string, hostname: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(hostname, entry);
  const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
  // In an IPv6 address without brackets the last colon begins no port.
  const isIpv6 = name.includes(':') && !name.startsWith('[');
  if (isIpv6) return hostname === `[${entry}]`.toLowerCase();
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const domain = name.replace(/^\*?\./, '').toLowerCase();
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

/**
 * Whether a host is an address in a network such as `10.0.0.0/8`. As in curl, an
 * entry that is not a network matches no host.
 */
function isInNetwork(hostname: string, network: string): boolean {
  const { BlockList, isIP } = process.getBuiltinModule('node:net');
  const families: readonly AddressFamily[] = [
    { version: 4, name: 'ipv4', bits: 32 },
    { version: 6, name: 'ipv6', bits: 128 },
  ];
  const familyOf = (address: string) => families.find(({ version }) => version === isIP(address));
  const host = withoutBrackets(hostname);
  const [, start = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(network) ?? [];
  const address = withoutBrackets(start);
  const hostFamily = familyOf(host);
  const networkFamily = familyOf(address);
  if (hostFamily === undefined || networkFamily === undefined) return false;
  if (Number(bits) > networkFamily.bits) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), networkFamily.name);
  return list.check(host, hostFamily.name);
}

/** A version of the Internet Protocol, as `node:net` knows it, and the length of its addresses. */
interface AddressFamily {
  readonly version: 4 | 6;
  readonly name: 'ipv4' | 'ipv6';
  readonly bits: 32 | 128;
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
