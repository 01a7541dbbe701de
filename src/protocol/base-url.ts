import { InvalidInputError } from './errors.js';
import { isLoopback, normalizeHost } from './host.js';

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
