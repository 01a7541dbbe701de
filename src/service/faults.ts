import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endpoints } from '../protocol/endpoints.js';
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

/** The fault of one request. */
interface Fault {
  readonly delayMs: number;
  readonly kind: 'none' | 'error' | 'reset' | 'drop after commit';
}

/** Draws the fault of each request. */
export class Faults {
  readonly #settings: FaultSettings;
  #drawn = 0;

  constructor(settings: FaultSettings) {
    this.#settings = settings;
  }

  draw(): Fault {
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

function kindOf(lot: number, error: number, reset: number, drop: number): Fault['kind'] {
  if (lot < error) return 'error';
  if (lot < error + reset) return 'reset';
  return lot < error + reset + drop ? 'drop after commit' : 'none';
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

/** Injects faults into the operations. */
export function addFaults(app: FastifyInstance, faults: Pick<Faults, 'draw'>, responder: Responder): void {
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
