import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Endpoint, endpoints } from '../protocol/endpoints.js';
import { type ResultCode, resultCode } from '../protocol/result-codes.js';
import { type FaultSettings, sharesOf } from './fault-settings.js';
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
  /** Stops in the middle of the answer's body. */
  readonly slowBody?: true;
}

/** For how long a slow answer stops, in milliseconds. */
const stopMs = 30_000;

/** Draws the fault of each request; the same seed gives the same faults in the same order. */
export function faultDrawer(settings: FaultSettings): () => Fault {
  const { latencyMs = { min: 0, max: 0 }, seed } = settings;
  const shares = sharesOf(settings);
  let drawn = 0;
  /** At least 0, less than 1. */
  const random = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest().readUInt32LE() / 2 ** 32;
  };
  return () => {
    // Both are drawn for every request, so that one setting does not affect the other faults.
    const delayMs = latencyMs.min + random() * (latencyMs.max - latencyMs.min);
    let lot = random();
    for (const [fault, share] of shares) {
      if (lot < share) return { delayMs, ...exclusive[fault] };
      lot -= share;
    }
    return { delayMs };
  };
}

const exclusive: Readonly<Record<ReturnType<typeof sharesOf>[number][0], Fault>> = {
  error: { code: resultCode.internal },
  reset: { cut: 'before' },
  dropAfterCommit: { cut: 'after' },
  badGateway: {
    answer: (reply) =>
      reply.code(502).type('text/html').send('<html><head><title>502 Bad Gateway</title></head></html>\n'),
  },
  slowBody: { slowBody: true },
};

/** A body whose second half comes 30 s after the first. `toString` returns all of it, for what records answers. */
function slowBodyOf(text: string): Readable {
  const bytes = Buffer.from(text);
  const half = bytes.length >> 1;
  const halves = async function* () {
    yield bytes.subarray(0, half);
    await wait(stopMs, undefined, { ref: false });
    yield bytes.subarray(half);
  };
  return Object.assign(Readable.from(halves(), { objectMode: false }), { toString: () => text });
}

/** Injects a fault into each request for an operation. */
export function injectFaults(
  app: FastifyInstance,
  responder: Responder,
  faultOf: (endpoint: Endpoint, request: FastifyRequest) => Fault | Promise<Fault>,
): void {
  const cutAfter = new WeakSet<FastifyRequest>();
  const slow = new WeakSet<FastifyRequest>();
  app.addHook('preHandler', async (request, reply) => {
    const endpoint = endpointOf(request);
    if (endpoint === undefined) return undefined;
    const { delayMs = 0, cut, code, answer, slowBody } = await faultOf(endpoint, request);
    await wait(delayMs);
    if (slowBody) slow.add(request);
    if (cut === 'after') cutAfter.add(request);
    if (code !== undefined) return responder.sendCode(reply, { operation: endpoint.operation }, code);
    if (cut !== 'before') return answer?.(reply);
    request.socket.destroy();
    return reply.hijack();
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (cutAfter.has(request)) request.socket.destroy();
    if (!slow.has(request)) return payload;
    reply.removeHeader('content-length');
    return slowBodyOf(String(payload));
  });
}

export function endpointOf(request: FastifyRequest): Endpoint | undefined {
  return endpoints.find(({ path }) => path === request.routeOptions.url);
}
