// A resource route of React Router, or Remix: app/routes/api.user.ts.
import { readUser } from './read-user';

export const loader = ({ request }: { readonly request: Request }) => readUser(request);
