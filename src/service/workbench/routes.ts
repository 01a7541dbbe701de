import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../protocol/base-url.js';
import { resultCode } from '../../protocol/result-codes.js';
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
 * The page with the last requests; with `run` and `after`, the rows after that request of that run: 204 if there
 * are none, 205 after a restart of the service. No envelope, and no line in the log.
 */
export async function answerWorkbench(
  request: FastifyRequest,
  reply: FastifyReply,
  { ring, isOpen }: Workbench,
  responder: Responder,
): Promise<FastifyReply> {
  if (!isOwnHost(request.raw, isOpen) || isForwarded(request)) {
    const msg =
      'the workbench is shown at the address of the service alone, such as http://127.0.0.1, without a proxy';
    return responder.sendCode(reply, { operation: 'GET /' }, resultCode.noSuchPath, msg);
  }
  // Loaded on the first request: most services never show the page.
  const { contentSecurityPolicy, pageOf, rowsAfter } = await import('./page.late.js');
  reply
    .headers({ ...headers, 'content-security-policy': contentSecurityPolicy })
    .type('text/html; charset=utf-8');
  const query = new URLSearchParams(request.url.split('?', 2)[1]);
  const after = query.get('after');
  if (after === null) return reply.send(await pageOf(ring));
  if (query.get('run') !== ring.run) return reply.code(205).send();
  const rows = await rowsAfter(ring, Number(after));
  return rows === '' ? reply.code(204).send() : reply.send(rows);
}

/** Whether a request comes from this machine, and not through a proxy on it. */
export function isFromHere(request: FastifyRequest): boolean {
  const address = request.socket.remoteAddress ?? '';
  return /^(?:::ffff:)?127\.|^::1$/.test(address) && isOwnHost(request.raw, true) && !isForwarded(request);
}

/**
 * The name of another site can lead to this machine (DNS rebinding); its requests then carry that name. An IP
 * address cannot be misused so.
 */
export function isOwnHost({ headersDistinct }: IncomingMessage, isOpen: boolean): boolean {
  const [host = '', ...others] = headersDistinct.host ?? [];
  if (others.length > 0 || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return isLoopback(hostname) || (isOpen && isIP(hostname.replace(/^\[|\]$/g, '')) > 0);
}

/**
 * A proxy makes remote clients look local. One that sends no header of its own often speaks HTTP/1.0, as no
 * browser does.
 */
function isForwarded({ raw }: FastifyRequest): boolean {
  const isOfProxy = (name: string) =>
    name.startsWith('x-forwarded-') || ['forwarded', 'via', 'x-real-ip'].includes(name);
  return raw.httpVersion === '1.0' || Object.keys(raw.headers).some(isOfProxy);
}
