// Apart from connections.ts: commands read the address of a proxy without undici.
import { InvalidInputError } from '../protocol/errors.js';

/** The address and the credentials of a proxy. */
export interface HttpProxy {
  /** Scheme, host and port, without user name and password. */
  readonly url: string;
  readonly host: string;
  /** The value of `Proxy-Authorization`; absent if the address has no user. */
  readonly token?: string;
}

/** A host for messages, with the proxy on the way to it. */
export function nameHost(host: string, proxy: HttpProxy | null): string {
  return proxy === null ? host : `${host} through the proxy ${proxy.host}`;
}

/**
 * Parses the address of a proxy as in environment variables: `http://user:password@host:3128`, or `host:3128`.
 *
 * @throws InvalidInputError that begins with `label` and does not repeat the text, which may hold a password
 */
export function parseProxy(text: string, label = 'proxy'): HttpProxy {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new InvalidInputError(`${label} is not the address of an http proxy`, {
      hint: 'Write it as http://host:port; proxies of other kinds are not supported.',
    });
  }
  const { origin, host, username, password } = url;
  if (username === '' && password === '') return { url: origin, host };
  const credentials = `${decodePart(username, label)}:${decodePart(password, label)}`;
  return { url: origin, host, token: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function decodePart(encoded: string, label: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new InvalidInputError(`${label} has a user name or password that is not percent-encoded`, {
      hint: 'Write a % in it as %25.',
    });
  }
}
