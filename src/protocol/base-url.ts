import { InvalidInputError } from './errors.js';

/**
 * A host name as WHATWG URLs give it, written the one way that tells two spellings of it apart from two hosts: no dot
 * at its end, an IPv4 address out of its IPv6 wrapping (`[::ffff:7f00:1]`).
 */
function normalizeHost(hostname: string): string {
  const host = hostname.toLowerCase().replace(/\.+$/, '');
  const wrapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host);
  if (wrapped === null) return host;
  const [high = 0, low = 0] = wrapped.slice(1).map((part) => Number.parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** A host or address to listen on, as it is written in a URL: IPv6 in brackets. */
export function urlHost(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Whether a host is this machine by its name alone: 127.0.0.0/8, ::1, `localhost` and what ends in it (RFC 6761). */
export function isLoopback(hostname: string): boolean {
  const host = normalizeHost(hostname);
  return host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host) || /(?:^|\.)localhost$/.test(host);
}

/**
 * A deployment's base address (§1), normalized: no slash at the end, so that the paths of §4 can be put behind it.
 * A path prefix is kept. Throws an InvalidInputError that begins with `label` and does not repeat the text,
 * which may hold a password.
 */
export function parseBaseUrl(text: string, label = 'the base URL'): string {
  if (!/^https?:\/\/\S+$/i.test(text.trim()) || !URL.canParse(text)) {
    throw new InvalidInputError(`${label} is not an absolute http or https URL`, {
      hint: 'Give all of the address that comes before /api/v1/, https:// included.',
    });
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw new InvalidInputError(`${label} holds a user name or a password: the service has no use for them`);
  }
  if (/[?#]/.test(text)) {
    throw new InvalidInputError(`${label} holds a query or a fragment`, {
      hint: 'Leave out the "?" or "#" and everything after it.',
    });
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * Whether two base URLs lead to the same deployment, however they are spelled: of two addresses this alike, one is
 * never test and the other production. It makes no difference whether http or https, with or without the port that
 * goes with them, which of the names of this machine, or how the letters of the path are cased and escaped.
 */
export function sameDeployment(one: string, other: string): boolean {
  return deploymentKey(one) === deploymentKey(other);
}

function deploymentKey(baseUrl: string): string {
  const { hostname, port, pathname } = new URL(baseUrl);
  const isHere = isLoopback(hostname) || ['0.0.0.0', '[::]'].includes(normalizeHost(hostname));
  const host = isHere ? 'localhost' : normalizeHost(hostname);
  const ownPort = ['80', '443'].includes(port) ? '' : port;
  const path = unescapePath(pathname).toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '');
  return `${host}:${ownPort}${path}`;
}

function unescapePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Refuses to send what is signed, and what it says of a person, in clear over a network: plain http is for this
 * machine alone, unless `allowHttp`. Throws an InvalidInputError that begins with `label`, and names the `option` that
 * allows it.
 */
export function refusePlainHttp(
  baseUrl: string,
  allowHttp: boolean,
  option: string,
  label = 'the base URL',
): void {
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol === 'https:' || allowHttp || isLoopback(hostname)) return;
  throw new InvalidInputError(`${label} is plain http: personal data would travel in clear to ${host}`, {
    hint: `Use https. Where the network on the way there is safe, ${option} allows plain http.`,
  });
}
