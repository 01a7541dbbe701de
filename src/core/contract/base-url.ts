import { decodePercent } from '../support/percent-encoding.js';
import { InvalidInputError, quoteName } from './errors.js';

/**
 * Normalizes a host name of a WHATWG URL, so that equal hosts have equal names: no dot at the end,
 * an IPv4-mapped IPv6 address (`[::ffff:7f00:1]`) as IPv4.
 */
function normalizeHost(hostname: string): string {
  const host = hostname.toLowerCase().replace(/(?<!\.)\.+$/, '');
  const wrapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host);
  if (wrapped === null) return host;
  const [high = 0, low = 0] = wrapped.slice(1).map((part) => Number.parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** A host or address as it is written in a URL: IPv6 in brackets. */
export function urlHost(address: string): string {
  if (address.includes(':')) return `[${address}]`;
  return address;
}

/**
 * Whether a name or address is loopback: 127.0.0.0/8, ::1, `localhost` and names that end in it
 * (RFC 6761).
 */
export function isLoopback(hostname: string): boolean {
  const host = normalizeHost(hostname);
  return host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host) || /(?:^|\.)localhost$/.test(host);
}

/**
 * Parses and normalizes the base URL of a deployment (§1): no slash at the end, so that the paths
 * of §4 can be appended. A path prefix is kept.
 *
 * @throws InvalidInputError that begins with `label` and does not repeat the text, which may hold a
 * password
 */
export function parseBaseUrl(text: string, label = 'the base URL'): string {
  if (!/^https?:\/\/\S+$/i.test(text.trim()) || !URL.canParse(text)) {
    throw new InvalidInputError(`${label} is not an absolute http or https URL`, {
      hint: urlHint(text),
    });
  }
  const url = new URL(text);
  const [unexpected] = /[^\w.:[\]-]/.exec(url.hostname) ?? [];
  if (unexpected !== undefined)
    throw new InvalidInputError(`${label} has ${quoteName(unexpected)} in its host`);
  if (url.username !== '' || url.password !== '') {
    throw new InvalidInputError(
      `${label} has a user name or a password, which the service does not use`,
    );
  }
  if (/[?#]/.test(text)) {
    throw new InvalidInputError(`${label} holds a query or a fragment`, {
      hint: 'Leave out the "?" or "#" and everything after it.',
    });
  }
  // The full stop of a sentence; a certificate is for the name without it.
  url.hostname = url.hostname.replace(/(?<!\.)\.+$/, '');
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** The likely mistake in a text that is not a URL; does not repeat the text. */
function urlHint(text: string): string {
  if (/^https?:?\/{0,2}[^/:]/i.test(text) && !/^https?:\/\//i.test(text))
    return 'Write a colon and two slashes after http or https.';
  if (Number(/:(\d+)(?:\/|$)/.exec(text)?.[1] ?? 0) > maxPort)
    return `The port is a number up to ${maxPort}.`;
  if (/.\bhttps?:\/\/\S/i.test(text)) return 'Give the URL alone, without what is around it.';
  return 'Pass everything before /api/v1/, including https://.';
}

const maxPort = 65_535;

/**
 * Refuses a base URL with the path of the operations, which is added to it (§4).
 *
 * @throws InvalidInputError that begins with `label`, and says what comes before the path
 */
export function refuseApiPath(baseUrl: string, label = 'the base URL'): void {
  const [before, path] = baseUrl.split(/(?=\/api\/v1\b)/);
  if (path === undefined) return;
  throw new InvalidInputError(`${label} contains ${path}`, {
    hint: `Give what comes before it: ${before}`,
  });
}

/**
 * Whether two base URLs lead to the same deployment. Scheme, default ports, loopback names, letter
 * case and escapes of the path are ignored: of two addresses this similar, one is never test and
 * the other production.
 */
export function sameDeployment(first: string, second: string): boolean {
  return deploymentKey(first) === deploymentKey(second);
}

/**
 * The address of a deployment (§1) to which requests may be sent: a base URL that was parsed and
 * judged, once for all that sends there.
 */
export class ServiceAddress {
  /** The base URL, without a slash at the end. */
  readonly baseUrl: string;
  readonly url: URL;
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path before those of §4; empty for most. */
  readonly pathPrefix: string;
  /** Whether it is this machine: no network and no proxy is on the way. */
  readonly isLoopback: boolean;

  /**
   * `baseUrl` is of `parseBaseUrl`; `permission` says whether plain http to another machine is
   * allowed, and which option allows it.
   *
   * @throws InvalidInputError that begins with `label`, for a base URL with the path of an
   * operation, and for plain http to another machine without the permission
   */
  constructor(
    baseUrl: string,
    permission: { readonly allowHttp: boolean; readonly option: string },
    label = 'the base URL',
  ) {
    refuseApiPath(baseUrl, label);
    refusePlainHttp(baseUrl, permission.allowHttp, permission.option, label);
    this.baseUrl = baseUrl;
    this.url = new URL(baseUrl);
    this.origin = this.url.origin;
    this.pathPrefix = baseUrl.slice(this.origin.length);
    this.isLoopback = isLoopback(this.url.hostname);
  }
}

/** Whether two base URLs lead to the same host and port, as `sameDeployment` compares them. */
export function sameHost(first: string, second: string): boolean {
  return hostKey(new URL(first)) === hostKey(new URL(second));
}

function deploymentKey(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = decodePercent(url.pathname).toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '');
  return hostKey(url) + path;
}

/** Host and port: every name of this machine is `localhost`, and the ports 80 and 443 are empty. */
function hostKey({ hostname, port }: URL): string {
  return `${hostNameKey(hostname)}:${port.replace(/^(?:80|443)$/, '')}`;
}

function hostNameKey(hostname: string): string {
  const host = normalizeHost(hostname);
  if (isLoopback(host) || host === '0.0.0.0' || host === '[::]') return 'localhost';
  return host;
}

/**
 * Refuses to send signatures and personal data unencrypted over a network: plain http is only for
 * this machine, unless `allowHttp`.
 *
 * @throws InvalidInputError that begins with `label`, and names the `option` that allows it
 */
export function refusePlainHttp(
  baseUrl: string,
  allowHttp: boolean,
  option: string,
  label = 'the base URL',
): void {
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol === 'https:' || allowHttp || isLoopback(hostname)) return;
  throw new InvalidInputError(
    `${label} is plain http: personal data would be sent unencrypted to ${host}`,
    {
      hint: `Use https. If the network is trusted, allow plain http by ${option}.`,
    },
  );
}
