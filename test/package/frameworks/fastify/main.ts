import { app } from './fastify.js';

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
