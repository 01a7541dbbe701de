import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../protocol/endpoints.js';
import { parameterText } from '../../protocol/parameters.js';
import { authenticate } from './authenticate.js';
import { perform } from './perform.js';
import { checkRequest, readRequest } from './received-request.js';
import type { Asked, Responder } from './responder.js';
import type { ServiceContext } from './service-context.js';

/** Answers a request for an operation of the spec, its body read. */
export async function serve(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ServiceContext,
  responder: Responder,
): Promise<FastifyReply> {
  const received = readRequest({
    endpoint,
    target: request.url,
    host: addressedHost(request),
    contentType: request.headers['content-type'],
    body: Buffer.isBuffer(request.body) ? request.body : null,
  });
  const { parameters } = received;
  let asked: Asked = { operation: endpoint.operation, parameters };
  try {
    const checked = checkRequest(received);
    const app = await context.store.read(({ apps }) => apps.find(parameterText(parameters, 'app_key')));
    asked = { ...asked, app };
    const caller = authenticate(checked, app, context.unixSeconds(), context);
    asked = { ...asked, isAuthenticated: true };
    return responder.sendData(reply, asked, await perform(checked, caller, context));
  } catch (error) {
    return responder.sendError(reply, asked, error);
  }
}

/** RFC 9112 §3.2: of several, and of one that is no host, who is meant depends on who reads it. */
function addressedHost({ raw, socket }: FastifyRequest): string | null {
  const { localAddress, localPort } = socket;
  const [host = `${localAddress}:${localPort}`, ...others] = raw.headersDistinct.host ?? [];
  return others.length === 0 && /^[\w.~%!$&'()*+,;=:[\]-]*$/.test(host) ? host : null;
}
