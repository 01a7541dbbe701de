import type { FastifyReply } from 'fastify';
import { openApiDocument } from '../../protocol/openapi.js';

export const openApiPath = '/openapi.json';

let document: string | undefined;

/** The description of the operations, for this very address. No envelope, and no line in the log. */
export function answerOpenApi(reply: FastifyReply): FastifyReply {
  document ??= JSON.stringify(openApiDocument([{ url: '.' }]));
  return reply.type('application/json').send(document);
}
