// Who has a code, for servers that speak the Web's Request and Response: Next.js, SvelteKit, React
// Router, Nuxt.
import { RejectedError } from 'userinfo-exchange';
import { client } from './client';

export async function readUser(request: Request): Promise<Response> {
  const code = new URL(request.url).searchParams.get('code') ?? '';
  try {
    const { data } = await client().read({ code, infoNames: ['mobile', 'acme_level'] });
    return Response.json(data);
  } catch (error) {
    const isOver = error instanceof RejectedError && error.means === 'codeNotValid';
    return Response.json(
      { error: isOver ? 'sign in again' : 'try again later' },
      { status: isOver ? 403 : 502 },
    );
  }
}
