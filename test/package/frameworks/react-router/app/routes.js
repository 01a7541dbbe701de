import { route } from '@react-router/dev/routes';

export default [route('api/user', 'routes/user.ts')];
