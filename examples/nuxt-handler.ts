// A server route of Nuxt: server/api/user.get.ts.
import { defineEventHandler, toWebRequest } from 'h3';
import { readUser } from './read-user';

export default defineEventHandler((event) => readUser(toWebRequest(event)));
