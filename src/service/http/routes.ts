import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endpoints } from '../../protocol/endpoints.js';
import { maskPath } from '../../protocol/masking.js';
import { openApiDocument } from '../../protocol/openapi.js';
import { type ResultCode, resultCode } from '../../protocol/result-codes.js';
import type { ServiceContext } from '../context.js';
import {
  type AnswerMonitoring,
  type MonitoringAnswer,
  monitoringPaths,
  statusAnswer,
} from '../monitoring.js';
import { answerWorkbench, isFromHere, type Workbench, workbenchPath } from '../workbench/routes.js';
import { handle } from './handle.js';
import type { RequestInfo, Responder } from './responder.js';

const openApiPath = '/openapi.json';

const healthPath = '/healthz';

/** Sends an answer for a probe: no envelope, and no line in the log for each request, which would fill it. */
function sendAnswer(reply: FastifyReply, { status, type, body }: MonitoringAnswer): FastifyReply {
  return reply.code(status).type(type).send(body);
}

/**
 * Adds the routes of the operations, the health checks, the OpenAPI document and the workbench; metrics unless they
 * have a port of their own.
 */
export function addRoutes(
  app: FastifyInstance,
  context: ServiceContext,
  responder: Responder,
  workbench: Workbench | null,
  monitoring: AnswerMonitoring,
): void {
  const hasAdminPort = context.settings.adminPort !== undefined;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  // Before the body is read: its size and type are checked later.
  const closing = new WeakSet<Socket>();
  app.addHook('onRequest', async (request, reply) => {
    const { raw, socket } = request;
    // It came with a request after which the connection is closed.
    if (socket.destroyed || closing.has(socket)) return reply.hijack();
    if (isAmbiguous(raw)) {
      closing.add(socket);
      return responder.sendCode(
        reply.header('connection', 'close'),
        infoOf(request),
        resultCode.malformedParameter,
      );
    }
    return request.is404 ? refuseUnrouted(request, reply, responder) : undefined;
  });
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    refuseUnread(error, request, reply, responder),
  );

  for (const endpoint of endpoints) {
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      onRequest: async (request) => {
        // Fastify rejects an empty type; here it counts as missing.
        if (request.headers['content-type'] === '') delete request.raw.headers['content-type'];
      },
      handler: (request, reply) => handle(endpoint, request, reply, context, responder),
      errorHandler: (error: FastifyError, request, reply) =>
        // An invalid Content-Type: missing parameters are reported first.
        error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
          ? handle(endpoint, request, reply, context, responder)
          : refuseUnread(error, request, reply, responder),
    });
  }
  // Many probes send HEAD.
  const method = ['GET', 'HEAD'];
  app.route({
    method,
    url: healthPath,
    handler: async (_, reply) => sendAnswer(reply, statusAnswer(await context.isWritable())),
  });
  for (const path of monitoringPaths) {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      // Metrics are for this machine, or for a port of their own. The others tell no more than /healthz, to load
      // balancers that name any host, or none, by HTTP/1.0.
      const isMeant = path !== '/metrics' || (!hasAdminPort && isFromHere(request));
      const answer = isMeant ? await monitoring(path) : null;
      if (answer) return sendAnswer(reply, answer);
      return responder.sendCode(reply, infoOf(request), resultCode.noSuchPath);
    };
    app.route({ method, url: path, handler });
  }
  let document: string | undefined;
  // Without an envelope and without a line in the log.
  app.get(openApiPath, (_, reply) => {
    document ??= JSON.stringify(openApiDocument([{ url: '.' }], context.settings.platform));
    return reply.type('application/json').send(document);
  });
  if (workbench !== null) {
    app.route({
      method,
      url: workbenchPath,
      handler: (request, reply) => answerWorkbench(request, reply, workbench, responder),
    });
  }
}

/**
 * Whether proxies may see another end of a request, or another host, than Node.js does: RFC 9112 §3.2 (several hosts),
 * §6.1 (other encodings than `chunked`, or one in HTTP/1.0).
 */
function isAmbiguous({ headers, headersDistinct, httpVersion }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding']?.toLowerCase();
  const isUnclear = encoding !== undefined && (encoding !== 'chunked' || httpVersion === '1.0');
  return isUnclear || (headersDistinct.host?.length ?? 0) > 1;
}

/** Answers a request without a route: 40402, or 40501 for another method. */
export function refuseUnrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  responder: Responder,
): FastifyReply {
  const method = methodOf(request);
  if (method === undefined) return responder.sendCode(reply, infoOf(request), resultCode.noSuchPath);
  return responder.sendCode(reply.header('allow', method), infoOf(request), resultCode.wrongMethod);
}

/** The method for the path of a request. */
function methodOf(request: FastifyRequest): string | undefined {
  const url = pathOf(request);
  return ['GET', ...endpoints.map(({ method }) => method)].find((method) =>
    request.server.hasRoute({ method, url }),
  );
}

/** Answers a request whose body could not be read. */
function refuseUnread(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  responder: Responder,
): FastifyReply {
  // The client has disconnected.
  if (error.code === 'ECONNRESET') return reply.hijack();
  // Fastify would close the connection of a client that is still sending, which then loses the answer.
  reply.removeHeader('connection');
  const code = codeFor(error);
  if (code === null) return responder.sendError(reply, infoOf(request), error);
  return responder.sendCode(reply, infoOf(request), code);
}

function codeFor({ code, statusCode = 500 }: FastifyError): ResultCode | null {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return resultCode.tooLarge;
  return statusCode < 500 ? resultCode.malformedParameter : null;
}

function infoOf(request: FastifyRequest): RequestInfo {
  return { operation: `${request.method} ${maskPath(pathOf(request))}` };
}

function pathOf({ url }: FastifyRequest): string {
  return url.replace(/\?.*/s, '');
}
