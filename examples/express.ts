// A sign-in with Express 5: GET /sign-in?code=… answers who signed in.
import express from 'express';
import { InvalidInputError, RejectedError } from 'userinfo-exchange';
import { client } from './client.js';

export const app = express();

app.get('/sign-in', async (request, response) => {
  try {
    const { data } = await client().read({
      code: String(request.query.code ?? ''),
      infoNames: ['mobile'],
    });
    response.json({ user: data.union_id });
  } catch (error) {
    if (error instanceof InvalidInputError)
      return void response.status(400).json({ error: 'code is missing' });
    const isOver = error instanceof RejectedError && error.means === 'codeNotValid';
    response
      .status(isOver ? 403 : 502)
      .json({ error: isOver ? 'sign in again' : 'try again later' });
  }
});
