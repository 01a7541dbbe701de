import { NestFactory } from '@nestjs/core';
import { UsersModule } from './nestjs.js';

const app = await NestFactory.create(UsersModule);
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT), '127.0.0.1');
