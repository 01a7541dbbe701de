import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endpoints } from '../../protocol/endpoints.js';
import { resultCode } from '../../protocol/result-codes.js';
import type { Responder } from '../http/responder.js';
import type { Fault, Faults } from './faults.js';

/** Has what is asked of the operations go wrong, as `faults` draws it. */
export function addFaults(app: FastifyInstance, faults: Faults, responder: Responder): void {
  const drawn = new WeakMap<FastifyRequest, Fault>();

  app.addHook('preHandler', async (request, reply) => {
    const endpoint = endpoints.find(({ path }) => path === request.routeOptions.url);
    if (endpoint === undefined) return;
    const fault = faults.draw();
    drawn.set(request, fault);
    await wait(fault.delayMs);
    if (fault.kind === 'error') {
      return responder.sendCode(reply, { operation: endpoint.operation }, resultCode.internal);
    }
    if (fault.kind === 'reset') {
      reply.hijack();
      request.socket.destroy();
    }
  });

  app.addHook('onSend', async (request, _, payload) => {
    if (drawn.get(request)?.kind === 'drop after commit') request.socket.destroy();
    return payload;
  });
}
