// A route handler of Next.js: app/api/user/route.ts.
import { readUser } from './read-user';

export const runtime = 'nodejs'; // not 'edge': the client opens its own connections
export const dynamic = 'force-dynamic'; // the build calls nothing

export const GET = readUser;
