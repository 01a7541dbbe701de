import type { Io } from './io.js';

/** A proxy that the environment names, and the variable that does. */
export interface NamedProxy {
  readonly address: string;
  readonly variable: string;
}

/**
 * The proxy for a base URL: HTTPS_PROXY or HTTP_PROXY after its scheme, unless NO_PROXY lists its host. The names in
 * small letters are understood too, and win, as with curl. `null`: none.
 */
export function proxyFor(baseUrl: string, env: Io['env']): NamedProxy | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const variable = env[name.toLowerCase()] ? name.toLowerCase() : name;
  const address = env[variable];
  if (!address) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '').split(/[,\s]+/).filter((entry) => entry !== '');
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions.some((entry) => covers(entry, hostname, usedPort)) ? null : { address, variable };
}

/** `*` covers every host, a name itself and what is below it, `.name` and `*.name` the same; each with `:port`, or any. */
function covers(entry: string, hostname: string, port: string): boolean {
  if (entry === '*') return true;
  const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
  const isIpv6 = name.includes(':') && !name.startsWith('[');
  const covered = (isIpv6 ? `[${entry}]` : name.replace(/^\*?\./, '')).toLowerCase();
  if (!isIpv6 && onlyPort !== undefined && onlyPort !== port) return false;
  return hostname === covered || hostname.endsWith(`.${covered}`);
}
