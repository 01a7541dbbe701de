import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback } from '../../core/contract/base-url.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { HttpExchange } from '../http/exchange.js';
import type { Responder } from '../http/responder.js';
import type { RequestRing } from './request-ring.js';

export const workbenchPath = '/';

export interface Workbench {
  readonly ring: RequestRing;
  /** Whether it is shown at addresses other than loopback. */
  readonly isOpen: boolean;
}

const headers = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * The page with the last requests; with `run` and `after`, the rows after that request of that run:
 * 204 if there are none, 205 after a restart of the service. No envelope, and no line in the log.
 */
export async function answerWorkbench(
  exchange: HttpExchange,
  { ring, isOpen }: Workbench,
  responder: Responder,
): Promise<void> {
  if (!isOwnHost(exchange.request, isOpen) || isForwarded(exchange.request)) {
    const msg =
      'the workbench is shown at the address of the service alone,' +
      ' such as http://127.0.0.1, without a proxy';
    return responder.sendCode(exchange, resultCode.noSuchPath, msg);
  }
  // Loaded on the first request: most services never show the page.
  const { contentSecurityPolicy, pageOf, rowsAfter } = await import('./page.late.js');
  Object.assign(exchange.headers, headers, { 'content-security-policy': contentSecurityPolicy });
  const send = (status: number, body = '') =>
    exchange.deliver({ status, type: 'text/html; charset=utf-8', body });
  const query = new URLSearchParams(exchange.query);
  const after = query.get('after');
  if (after === null) return send(200, await pageOf(ring));
  if (query.get('run') !== ring.run) return send(205);
  const rows = await rowsAfter(ring, Number(after));
  send(rows === '' ? 204 : 200, rows);
}

/** Whether a request comes from this machine, and not through a proxy on it. */
export function isFromHere(request: IncomingMessage): boolean {
  const address = request.socket.remoteAddress ?? '';
  return (
    /^(?:::ffff:)?127\.|^::1$/.test(address) && isOwnHost(request, true) && !isForwarded(request)
  );
}

/**
 * The name of another site can lead to this machine (DNS rebinding); its requests then carry that
 * name. An IP address cannot be misused so.
 */
export function isOwnHost({ headersDistinct }: IncomingMessage, isOpen: boolean): boolean {
  const [host = '', ...others] = headersDistinct.host ?? [];
  if (others.length > 0 || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return isLoopback(hostname) || (isOpen && isIP(hostname.replace(/^\[|\]$/g, '')) > 0);
}

/**
 * A proxy makes remote clients look local. One that sends no header of its own often speaks
 * HTTP/1.0, as no browser does.
 */
function isForwarded({ httpVersion, headers }: IncomingMessage): boolean {
  const isOfProxy = (name: string) =>
    name.startsWith('x-forwarded-') || ['forwarded', 'via', 'x-real-ip'].includes(name);
  return httpVersion === '1.0' || Object.keys(headers).some(isOfProxy);
}
