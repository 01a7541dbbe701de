/**
 * A host name as WHATWG URLs give it, written the one way that tells two spellings of it apart from two hosts: no dot
 * at its end, an IPv4 address out of its IPv6 wrapping (`[::ffff:7f00:1]`).
 */
export function normalizeHost(hostname: string): string {
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
