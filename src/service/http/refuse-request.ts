import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { endpoints } from '../../protocol/endpoints.js';
import { maskPath } from '../../protocol/mask-name.js';
import { type ResultCode, resultCode } from '../../protocol/result-codes.js';
import { healthPath } from './health.js';
import { openApiPath } from './openapi.js';
import type { Asked, Responder } from './responder.js';
import { workbenchPath } from './workbench.js';

/** The method of each path that there is. */
const methods = new Map<string, string>([
  ...endpoints.map(({ path, method }) => [path, method] as const),
  [healthPath, 'GET'],
  [openApiPath, 'GET'],
]);

/** Answers a request for which there is no route: 40402, or 40501 where another method would do. */
export function refuseUnrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  responder: Responder,
): FastifyReply {
  const method = methodOf(request);
  if (method === undefined) return responder.sendCode(reply, askedOf(request), resultCode.noSuchPath);
  return responder.sendCode(reply.header('allow', method), askedOf(request), resultCode.wrongMethod);
}

function methodOf(request: FastifyRequest): string | undefined {
  const path = pathOf(request);
  if (path !== workbenchPath) return methods.get(path);
  return request.server.hasRoute({ method: 'GET', url: path }) ? 'GET' : undefined;
}

/** Answers a request whose body could not be read. */
export function refuseUnread(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  responder: Responder,
): FastifyReply {
  // The client is gone.
  if (error.code === 'ECONNRESET') return reply.hijack();
  // Fastify would close the connection under a client that is still sending, which then loses the answer.
  reply.removeHeader('connection');
  const code = codeFor(error);
  if (code === null) return responder.sendError(reply, askedOf(request), error);
  return responder.sendCode(reply, askedOf(request), code);
}

function codeFor({ code, statusCode = 500 }: FastifyError): ResultCode | null {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return resultCode.tooLarge;
  return statusCode < 500 ? resultCode.malformedParameter : null;
}

function askedOf(request: FastifyRequest): Asked {
  return { operation: `${request.method} ${maskPath(pathOf(request))}` };
}

function pathOf({ url }: FastifyRequest): string {
  return url.replace(/\?.*/s, '');
}
