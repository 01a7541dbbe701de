// A sign-in with Fastify 5: GET /sign-in?code=… answers who signed in; the client is closed with
// the application.
import Fastify from 'fastify';
import { InvalidInputError, RejectedError } from 'userinfo-exchange';
import { client } from './client.js';

export const app = Fastify();

app.get<{ Querystring: { readonly code?: string } }>(
  '/sign-in',
  async ({ query: { code = '' } }, reply) => {
    try {
      const { data } = await client().read({ code, infoNames: ['mobile'] });
      return { user: data.union_id };
    } catch (error) {
      if (error instanceof InvalidInputError)
        return reply.code(400).send({ error: 'code is missing' });
      const isOver = error instanceof RejectedError && error.means === 'codeNotValid';
      return reply
        .code(isOver ? 403 : 502)
        .send({ error: isOver ? 'sign in again' : 'try again later' });
    }
  },
);

app.addHook('onClose', () => client().close());
