// A server route of SvelteKit: src/routes/api/user/+server.ts.
import { readUser } from './read-user';

export const GET = ({ request }: { readonly request: Request }) => readUser(request);
