import type { FastifyError, FastifyInstance } from 'fastify';
import { endpoints } from '../../protocol/endpoints.js';
import { Health, healthPath } from './health.js';
import { answerOpenApi, openApiPath } from './openapi.js';
import type { ArrivingBodies } from './overload.js';
import { refuseUnread, refuseUnrouted } from './refuse-request.js';
import type { Responder } from './responder.js';
import { serve } from './serve.js';
import type { ServiceContext } from './service-context.js';
import { answerWorkbench, type Workbench, workbenchPath } from './workbench.js';

/** Adds the operations of the spec, and what is about the service. */
export function addRoutes(
  app: FastifyInstance,
  context: ServiceContext,
  responder: Responder,
  bodies: ArrivingBodies,
  workbench: Workbench | null,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  // Before the body is read: how large it is, and of what type, comes later.
  app.addHook('onRequest', async (request, reply) =>
    request.is404 ? refuseUnrouted(request, reply, responder) : undefined,
  );
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    refuseUnread(error, request, reply, responder),
  );

  for (const endpoint of endpoints) {
    app.route({
      method: endpoint.method,
      url: endpoint.path,
      onRequest: async (request) => {
        // Fastify takes an empty type for a wrong one; here it counts as missing.
        if (request.headers['content-type'] === '') delete request.raw.headers['content-type'];
      },
      preParsing: (request, _, body, done) => {
        bodies.count(request.raw);
        done(null, body);
      },
      handler: (request, reply) => serve(endpoint, request, reply, context, responder),
      errorHandler: (error: FastifyError, request, reply) =>
        // A Content-Type that is none: what is missing is said first.
        error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
          ? serve(endpoint, request, reply, context, responder)
          : refuseUnread(error, request, reply, responder),
    });
  }
  const health = new Health(context);
  app.get(healthPath, (_, reply) => health.answer(reply));
  app.get(openApiPath, (_, reply) => answerOpenApi(reply));
  if (workbench !== null) {
    app.get(workbenchPath, (request, reply) => answerWorkbench(request, reply, workbench, responder));
  }
}
