import type { FastifyReply } from 'fastify';
import { logFault } from '../log/log-fault.js';
import { envelopeType } from './envelope-type.js';
import type { ServiceContext } from './service-context.js';

export const healthPath = '/healthz';

/** Whether the store answers: 200 or 503. No envelope, and no line in the log, which it would fill. */
export async function answerHealth(
  reply: FastifyReply,
  { store, log }: ServiceContext,
): Promise<FastifyReply> {
  reply.type(envelopeType);
  try {
    await store.check();
  } catch (error) {
    logFault(log, error);
    return reply.code(503).send('{"status":"unavailable"}');
  }
  return reply.send('{"status":"ok"}');
}
