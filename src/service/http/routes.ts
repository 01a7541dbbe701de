import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Endpoint, endpoints, hasForm } from '../../core/contract/endpoints.js';
import { jsonContentType } from '../../core/contract/envelope.js';
import { openApiDocument } from '../../core/contract/openapi.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { ServiceContext } from '../context.js';
import { type Monitoring, statusAnswer } from '../monitoring.js';
import { answerWorkbench, isFromHere, type Workbench, workbenchPath } from '../workbench/routes.js';
import { type HttpExchange, readBody } from './exchange.js';
import { handle } from './handle.js';
import type { Responder } from './responder.js';

const openApiPath = '/openapi.json';

const healthPath = '/healthz';

/** Answers a request for an operation otherwise than the service; returns whether it did. */
export type Intercept = (endpoint: Endpoint, exchange: HttpExchange) => Promise<boolean>;

interface Route {
  /** The answer to any other method names the first as the one that is allowed. */
  readonly methods: readonly string[];
  answer(exchange: HttpExchange): Promise<void>;
}

/**
 * The routes of the operations, the health checks, the OpenAPI document and the workbench, by path;
 * metrics unless they have a port of their own.
 */
export function routesOf(
  context: ServiceContext,
  responder: Responder,
  workbench: Workbench | null,
  monitoring: Monitoring,
  intercept: Intercept | undefined,
): ReadonlyMap<string, Route> {
  const { adminPort, maxBodyBytes, platform } = context.settings;
  const routes = new Map<string, Route>();
  for (const endpoint of endpoints) {
    const answer = async (exchange: HttpExchange) => {
      if (hasForm(endpoint)) {
        const body = await readBody(exchange.request, maxBodyBytes);
        if (body === null) return;
        if (body === 'too large') return responder.sendCode(exchange, resultCode.tooLarge);
        exchange.body = body;
      }
      if (intercept !== undefined && (await intercept(endpoint, exchange))) return;
      await handle(endpoint, exchange, context, responder);
    };
    routes.set(endpoint.path, { methods: [endpoint.method], answer });
  }
  // Many probes send HEAD. No envelope, and no line in the log for each request, which would fill
  // it.
  const methods = ['GET', 'HEAD'];
  routes.set(healthPath, {
    methods,
    answer: async (exchange) => exchange.deliver(statusAnswer(await context.isWritable())),
  });
  for (const [path, answerOf] of monitoring) {
    const answer = async (exchange: HttpExchange) => {
      // Metrics are for this machine, or for a port of their own. The others tell no more than
      // /healthz, to load balancers that name any host, or none, by HTTP/1.0.
      const { request } = exchange;
      const isHidden = path === '/metrics' && (adminPort !== undefined || !isFromHere(request));
      if (isHidden) responder.sendCode(exchange, resultCode.noSuchPath);
      else exchange.deliver(await answerOf(request));
    };
    routes.set(path, { methods, answer });
  }
  let document: string | undefined;
  routes.set(openApiPath, {
    methods: ['GET'],
    answer: async (exchange) => {
      document ??= JSON.stringify(openApiDocument([{ url: '.' }], platform));
      exchange.deliver({ status: 200, type: jsonContentType, body: document });
    },
  });
  if (workbench !== null) {
    const answer = (exchange: HttpExchange) => answerWorkbench(exchange, workbench, responder);
    routes.set(workbenchPath, { methods, answer });
  }
  return routes;
}

/** What answers each request by its route: 40402 without one, 40501 for another method. */
export function answerByRoute(
  routes: ReadonlyMap<string, Route>,
  responder: Responder,
): (exchange: HttpExchange) => Promise<void> {
  const closing = new WeakSet<Socket>();
  return async (exchange) => {
    const { request, reply, headers } = exchange;
    // It came with a request after which the connection is closed.
    if (request.socket.destroyed || closing.has(request.socket)) return;
    if (isAmbiguous(request)) {
      closing.add(request.socket);
      reply.shouldKeepAlive = false;
      return responder.sendCode(exchange, resultCode.malformedParameter);
    }
    const route = routes.get(unescaped(exchange.path));
    if (route === undefined) return responder.sendCode(exchange, resultCode.noSuchPath);
    if (!route.methods.includes(request.method ?? '')) {
      headers.allow = route.methods[0] ?? '';
      return responder.sendCode(exchange, resultCode.wrongMethod);
    }
    try {
      await route.answer(exchange);
    } catch (error) {
      responder.sendError(exchange, error);
    }
  };
}

/** A path without the escapes of characters that mean the same (RFC 3986 §6.2.2.2). */
function unescaped(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return '';
  }
}

/**
 * Whether proxies may see another end of a request, or another host, than Node.js does: RFC 9112
 * §3.2 (several hosts), §6.1 (other encodings than `chunked`, or one in HTTP/1.0).
 */
function isAmbiguous({ headers, rawHeaders, httpVersion }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding']?.toLowerCase();
  const isUnclear = encoding !== undefined && (encoding !== 'chunked' || httpVersion === '1.0');
  // Names and values take turns.
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const hosts = names.filter((name) => /^host$/i.test(name));
  return isUnclear || hosts.length > 1;
}
