// A sign-in with Express 5: GET /sign-in?code=… answers who signed in.
import express from 'express';
import { RejectedError, resultCode } from 'userinfo-cli';
import { client } from './client.js';

export const app = express();

app.get('/sign-in', async (request, response) => {
  try {
    const { data } = await client.read({ code: String(request.query.code ?? ''), infoNames: ['mobile'] });
    response.json({ user: data.union_id });
  } catch (error) {
    const isOver = error instanceof RejectedError && error.resultCode === resultCode.codeNotValid;
    response.status(isOver ? 403 : 502).json({ error: isOver ? 'sign in again' : 'try again later' });
  }
});
