import type { Socket } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import { NoAnswerError } from '../../client/errors.js';
import { parseProxy } from '../../client/proxy.js';
import type { Settings } from '../../profiles/settings.js';
import { isLoopback } from '../../protocol/base-url.js';
import { networkOptions, proxyFor } from '../connect.js';
import type { CliContext } from '../context.js';
import type { Finding } from './checkup.js';
import { findAddresses, openConnection, type Route, secure } from './probe.js';

/** The proxy of the connection, and the certificate authorities it trusts. */
export async function checkProxy(
  { io, signal }: CliContext,
  settings: Settings,
  url: URL,
  timeoutMs: number,
): Promise<Finding<Route>> {
  const { extraCa } = await networkOptions(settings, io.env);
  const named = proxyFor(url.href, io.env);
  const proxy = named === null || isLoopback(url.hostname) ? null : parseProxy(named.address, named.variable);
  const route = { url, proxy, extraCa, timeoutMs, signal };
  if (proxy === null) return { detail: 'none for this host', value: route, skipped: true };
  return { detail: `${proxy.host} (${named?.variable})`, value: route };
}

export async function checkDns(route: Route): Promise<Finding<Route>> {
  const addresses = await findAddresses(route);
  return { detail: addresses.join(', '), value: route };
}

export async function checkConnection(route: Route, now: () => number): Promise<Finding<Socket>> {
  const before = now();
  const socket = await openConnection(route);
  const through = route.proxy === null ? '' : ` through ${route.proxy.host}`;
  return { detail: `${route.url.host}${through}, after ${Math.round(now() - before)} ms`, value: socket };
}

const dayMs = 86_400_000;
/** Warn if a certificate expires in fewer days. */
const renewalDays = 14;

/** Checks TLS, and closes the connection. */
export async function checkTls(socket: Socket, route: Route, now: number): Promise<Finding<true>> {
  try {
    if (route.url.protocol === 'http:')
      return { detail: 'none: the base URL is http', value: true, skipped: true };
    const { protocol, certificate } = await secure(socket, route);
    const days = Math.floor((Date.parse(certificate.valid_to) - now) / dayMs);
    const detail = `${protocol}, certificate of ${nameOf(certificate.subject)} by ${nameOf(certificate.issuer)}, ${days} days left`;
    return {
      detail,
      ...(days < renewalDays ? { next: 'Ask the operator to renew the certificate.' } : {}),
      value: true,
    };
  } catch (error) {
    throw error instanceof NoAnswerError ? withAdvice(error) : error;
  } finally {
    socket.destroy();
  }
}

function nameOf({ CN, O }: PeerCertificate['subject']): string {
  return [CN ?? O ?? 'nobody'].flat().join(', ');
}

const advice: readonly (readonly [code: RegExp, hint: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO/,
    'Its certificate authority is not trusted: pass the certificate of that authority with --ca-file.',
  ],
  [/EXPIRED|NOT_YET_VALID/, 'Ask the operator to renew it, and check the clock of this machine.'],
  [/ALTNAME/, 'It is the certificate of another host: check the base URL.'],
];

/** Gives advice by the kind of certificate error. */
function withAdvice(error: NoAnswerError): NoAnswerError {
  const { message, reason, received, cause } = error;
  const code = String((cause as { code?: unknown } | undefined)?.code);
  const hint = advice.find(([codes]) => codes.test(code))?.[1] ?? error.hint;
  return new NoAnswerError(message, { reason, received, cause, ...(hint === undefined ? {} : { hint }) });
}
