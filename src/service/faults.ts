import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Endpoint, endpoints } from '../protocol/endpoints.js';
import { type ResultCode, resultCode } from '../protocol/result-codes.js';
import type { FaultSettings } from './fault-settings.js';
import type { Responder } from './http/responder.js';

/** The treatment of a request besides carrying it out, or instead. */
export interface Fault {
  readonly delayMs?: number | undefined;
  /** Close the connection instead of an answer: `before` the request is carried out, or `after` it. */
  readonly cut?: 'before' | 'after' | undefined;
  /** Answers with a result code without carrying it out. */
  readonly code?: ResultCode | undefined;
  /** Answers otherwise without carrying it out. */
  readonly answer?: ((reply: FastifyReply) => FastifyReply) | undefined;
}

/** Draws the fault of each request; the same seed gives the same faults in the same order. */
export function faultDrawer(settings: FaultSettings): () => Fault {
  const { latencyMs = { min: 0, max: 0 }, error = 0, reset = 0, dropAfterCommit = 0, seed } = settings;
  let drawn = 0;
  /** At least 0, less than 1. */
  const random = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest().readUInt32LE() / 2 ** 32;
  };
  return () => {
    // Both are drawn for every request, so that one setting does not affect the other faults.
    const delayMs = latencyMs.min + random() * (latencyMs.max - latencyMs.min);
    const lot = random();
    if (lot < error) return { delayMs, code: resultCode.internal };
    if (lot < error + reset) return { delayMs, cut: 'before' };
    return { delayMs, cut: lot < error + reset + dropAfterCommit ? 'after' : undefined };
  };
}

/** Injects a fault into each request for an operation. */
export function injectFaults(
  app: FastifyInstance,
  responder: Responder,
  faultOf: (endpoint: Endpoint, request: FastifyRequest) => Fault | Promise<Fault>,
): void {
  const cutAfter = new WeakSet<FastifyRequest>();
  app.addHook('preHandler', async (request, reply) => {
    const endpoint = endpointOf(request);
    if (endpoint === undefined) return undefined;
    const { delayMs = 0, cut, code, answer } = await faultOf(endpoint, request);
    await wait(delayMs);
    if (cut === 'after') cutAfter.add(request);
    if (code !== undefined) return responder.sendCode(reply, { operation: endpoint.operation }, code);
    if (cut !== 'before') return answer?.(reply);
    request.socket.destroy();
    return reply.hijack();
  });
  app.addHook('onSend', async (request, _, payload) => {
    if (cutAfter.has(request)) request.socket.destroy();
    return payload;
  });
}

export function endpointOf(request: FastifyRequest): Endpoint | undefined {
  return endpoints.find(({ path }) => path === request.routeOptions.url);
}
