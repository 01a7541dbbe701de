import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Endpoint, endpoints } from '../protocol/endpoints.js';
import { resultCode } from '../protocol/result-codes.js';
import type { Responder } from './http/responder.js';

/**
 * Injected faults, to test a client. Shares are of all requests, 0 to 1.
 *
 * @example
 * const faults: FaultSettings = { error: 0.1, latencyMs: { min: 5, max: 50 }, seed: 1 };
 * const flaky = await createService({ faults });
 */
export interface FaultSettings {
  /** Delay before a request is processed, in milliseconds. */
  readonly latencyMs?: { readonly min: number; readonly max: number };
  /** Share of requests that are answered with 50001 and not carried out. */
  readonly error?: number;
  /** Share of requests whose connection is closed before they are processed. */
  readonly reset?: number;
  /** Share of requests that are carried out, and whose connection is closed instead of an answer. */
  readonly dropAfterCommit?: number;
  /** How far the service's clock is ahead, in seconds; negative if it is behind. */
  readonly skewSeconds?: number;
  /** A whole number: the same seed gives the same faults in the same order. */
  readonly seed: number;
}

/** What is done with a request besides carrying it out, or instead. */
export interface Fault {
  readonly delayMs?: number | undefined;
  /** Close the connection instead of an answer: `before` the request is carried out, or `after` it. */
  readonly cut?: 'before' | 'after' | undefined;
  /** Answers without carrying it out. */
  readonly answer?: ((reply: FastifyReply) => FastifyReply) | undefined;
}

type FaultKind = 'none' | 'error' | 'before' | 'after';

/** Draws the fault of each request: an error, or a connection that is cut before or after it is carried out. */
export class Faults {
  readonly #settings: FaultSettings;
  #drawn = 0;

  constructor(settings: FaultSettings) {
    this.#settings = settings;
  }

  draw(): { readonly delayMs: number; readonly kind: FaultKind } {
    const { latencyMs = { min: 0, max: 0 }, error = 0, reset = 0, dropAfterCommit = 0 } = this.#settings;
    // Both are drawn for every request, so that one setting does not affect the other faults.
    const delayMs = latencyMs.min + this.#random() * (latencyMs.max - latencyMs.min);
    return { delayMs, kind: kindOf(this.#random(), error, reset, dropAfterCommit) };
  }

  /** At least 0, less than 1; reproducible by seed. */
  #random(): number {
    this.#drawn += 1;
    const hash = createHash('sha256').update(`${this.#settings.seed} ${this.#drawn}`).digest();
    return hash.readUInt32LE() / 2 ** 32;
  }
}

function kindOf(lot: number, error: number, reset: number, drop: number): FaultKind {
  if (lot < error) return 'error';
  if (lot < error + reset) return 'before';
  return lot < error + reset + drop ? 'after' : 'none';
}

/** Faults in the form of `--fault`. */
export function describeFaults(faults: FaultSettings): string {
  const { latencyMs, error, reset, dropAfterCommit, skewSeconds, seed } = faults;
  const parts = [
    latencyMs && `latency=${latencyMs.min}ms..${latencyMs.max}ms`,
    error && `error=${percent(error)}`,
    reset && `reset=${percent(reset)}`,
    dropAfterCommit && `drop-after-commit=${percent(dropAfterCommit)}`,
    skewSeconds && `skew=${skewSeconds}s`,
  ].filter(Boolean);
  return `${parts.join(',')} (seed ${seed})`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}

/** The fault that is drawn for a request. */
export function drawnFault(faults: Faults, { operation }: Endpoint, responder: Responder): Fault {
  const { delayMs, kind } = faults.draw();
  if (kind !== 'error') return { delayMs, cut: kind === 'none' ? undefined : kind };
  return { delayMs, answer: (reply) => responder.sendCode(reply, { operation }, resultCode.internal) };
}

/** Injects a fault into each request for an operation. */
export function injectFaults(
  app: FastifyInstance,
  faultOf: (endpoint: Endpoint, request: FastifyRequest) => Fault,
): void {
  const cutAfter = new WeakSet<FastifyRequest>();
  app.addHook('preHandler', async (request, reply) => {
    const endpoint = endpointOf(request);
    if (endpoint === undefined) return undefined;
    const { delayMs = 0, cut, answer } = faultOf(endpoint, request);
    await wait(delayMs);
    if (cut === 'after') cutAfter.add(request);
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
