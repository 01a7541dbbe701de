// A route handler of Next.js: app/api/user/route.ts. Next calls it with the Web's Request and wants its Response.
import { RejectedError } from 'userinfo-cli';
import { client } from './client.js';

export const runtime = 'nodejs'; // not 'edge': the client opens its own connections

export async function GET(request: Request): Promise<Response> {
  const code = new URL(request.url).searchParams.get('code') ?? '';
  try {
    const { data } = await client.read({ code, infoNames: ['mobile', 'acme_level'] });
    return Response.json(data);
  } catch (error) {
    const isOver = error instanceof RejectedError && error.means === 'codeNotValid';
    return Response.json(
      { error: isOver ? 'sign in again' : 'try again later' },
      { status: isOver ? 403 : 502 },
    );
  }
}
