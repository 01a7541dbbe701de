import type { FastifyReply } from 'fastify';
import { logFault } from '../log/log-fault.js';
import { envelopeType } from './envelope-type.js';
import type { ServiceContext } from './service-context.js';

export const healthPath = '/healthz';

/** How long the outcome of a probe is given as the answer, in milliseconds. */
const probeLastsMs = 1000;

/**
 * Whether the store can be written: 200 or 503. Requests share a probe: there is one at a time, and one a second. No
 * envelope, and no line in the log for each request, which would fill it.
 */
export class Health {
  readonly #context: ServiceContext;
  #probe: Promise<boolean> | undefined;
  /** When the probe ended, in milliseconds that only go forward. */
  #endedAt = Number.POSITIVE_INFINITY;

  constructor(context: ServiceContext) {
    this.#context = context;
  }

  async answer(reply: FastifyReply): Promise<FastifyReply> {
    if (this.#probe === undefined || this.#context.steadyNow() - this.#endedAt > probeLastsMs) {
      this.#endedAt = Number.POSITIVE_INFINITY;
      this.#probe = this.#run();
    }
    const isWell = await this.#probe;
    reply.type(envelopeType);
    return isWell ? reply.send('{"status":"ok"}') : reply.code(503).send('{"status":"unavailable"}');
  }

  async #run(): Promise<boolean> {
    const { store, log } = this.#context;
    try {
      await store.check();
      return true;
    } catch (error) {
      logFault(log, error);
      return false;
    } finally {
      this.#endedAt = this.#context.steadyNow();
    }
  }
}
