// A server with Express 5: a user signs in with the code of the platform, sees the own record, and
// gets a level. Sessions are in memory here: take a store of yours.
import { randomUUID } from 'node:crypto';
import express, { type NextFunction, type Request, type Response } from 'express';
import { InvalidInputError, isUserInfoFailure } from 'userinfo-exchange';
import { client } from './client.js';

interface User {
  readonly unionId: string;
  readonly mobile: string | undefined;
}

const sessions = new Map<string, User>();

export const app = express();
app.use(express.json());

/** Where the platform leads a user back to, with a code that works once. */
app.get('/sign-in', async (request, response) => {
  const code = String(request.query.code ?? '');
  const { data } = await client().read({ code, infoNames: ['mobile'] });
  const session = randomUUID();
  sessions.set(session, { unionId: data.union_id, mobile: data.mobile });
  response.cookie('session', session, { httpOnly: true, secure: true, sameSite: 'lax' });
  response.json({ user: data.union_id });
});

app.get('/me', (request, response) => {
  const user = userOf(request);
  if (user === undefined) return void response.status(401).json({ error: 'sign in first' });
  response.json(user);
});

/** A passback writes the same values again: the SDK repeats it where the answer was lost. */
app.put('/me/level', async (request, response) => {
  const user = userOf(request);
  if (user === undefined) return void response.status(401).json({ error: 'sign in first' });
  const { level } = request.body as { readonly level?: unknown };
  if (typeof level !== 'string') return void response.status(400).json({ error: 'no level' });
  await client().passback({ unionId: user.unionId, userInfo: { acme_level: level } });
  response.status(204).end();
});

/** What the platform refused, or did not answer. Express passes rejected promises on to here. */
app.use((error: unknown, _: Request, response: Response, next: NextFunction) => {
  if (!isUserInfoFailure(error)) return next(error);
  if (error instanceof InvalidInputError)
    return void response.status(400).json({ error: error.message });
  const isOver = error.code === 'REJECTED' && error.means === 'codeNotValid';
  response.status(isOver ? 403 : 502).json({ error: isOver ? 'sign in again' : 'try again later' });
});

function userOf({ headers }: Request): User | undefined {
  const [, session = ''] = /(?:^|; )session=([^;]+)/.exec(headers.cookie ?? '') ?? [];
  return sessions.get(session);
}
