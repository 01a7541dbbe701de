import { InvalidInputError } from '../protocol/errors.js';

/** A proxy as it is used: where it is, and how to introduce oneself to it. */
export interface HttpProxy {
  /** Scheme, host and port: user name and password are left out. */
  readonly url: string;
  readonly host: string;
  /** The value of `Proxy-Authorization`; absent where the address names nobody. */
  readonly token?: string;
}

/**
 * Reads the address of a proxy as environment variables hold it: `http://user:password@host:3128`, or `host:3128`.
 * Throws an InvalidInputError that begins with `label` and does not repeat the text, which may hold a password.
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
