import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../protocol/base-url.js';
import { resultCode } from '../../protocol/result-codes.js';
import type { Responder } from '../http/responder.js';
import type { RequestRing } from './request-ring.js';

export const workbenchPath = '/';

/** The workbench, where there is one. */
export interface Workbench {
  readonly ring: RequestRing;
  /** Whether it is shown under other addresses than those of this machine itself. */
  readonly isOpen: boolean;
}

const headers = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * The page with the last requests; with `run` and `after`, what came after that request of that run: 204 for nothing,
 * 205 where the service was started again. No envelope, and no line in the log.
 */
export async function answerWorkbench(
  request: FastifyRequest,
  reply: FastifyReply,
  { ring, isOpen }: Workbench,
  responder: Responder,
): Promise<FastifyReply> {
  if (!isOwnHost(request, isOpen) || isForwarded(request)) {
    const msg =
      'the workbench is shown at the address of the service alone, such as http://127.0.0.1, without a proxy';
    return responder.sendCode(reply, { operation: 'GET /' }, resultCode.noSuchPath, msg);
  }
  // Nobody may ever look: the service starts without.
  const { contentSecurityPolicy, pageOf, rowsAfter } = await import('./page.js');
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

/**
 * A page of another site can have its own name lead to this machine (DNS rebinding); its requests then carry that
 * name. An IP address is nobody's name.
 */
function isOwnHost({ raw }: FastifyRequest, isOpen: boolean): boolean {
  const [host = '', ...others] = raw.headersDistinct.host ?? [];
  if (others.length > 0 || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return isLoopback(hostname) || (isOpen && isIP(hostname.replace(/^\[|\]$/g, '')) > 0);
}

/** A proxy makes strangers look like this machine. One that says nothing of itself often speaks HTTP/1.0; no browser does. */
function isForwarded({ raw }: FastifyRequest): boolean {
  const isTelling = (name: string) =>
    name.startsWith('x-forwarded-') || ['forwarded', 'via', 'x-real-ip'].includes(name);
  return raw.httpVersion === '1.0' || Object.keys(raw.headers).some(isTelling);
}
