import { randomBytes } from 'node:crypto';
import type { Endpoint } from '../../core/contract/endpoints.js';
import { UserInfoError } from '../../core/contract/errors.js';
import { type Parameters, parameterText } from '../../core/contract/parameters.js';
import { resultCode } from '../../core/contract/result-codes.js';
import { hasNeedlessEscapes } from '../../core/contract/user-info.js';
import type { ServiceContext } from '../context.js';
import { StoreUnavailableError } from '../database/errors.js';
import type { App, Obstacle } from '../store/apps.js';
import { RequestStore } from '../store/request-store.js';
import { authenticate } from './authenticate.js';
import type { HttpExchange } from './exchange.js';
import { type CheckedRequest, type OperationResult, operations } from './operations.js';
import { ParsedRequest, type ReceivedRequest } from './received-request.js';
import { RefusedError } from './refusal.js';
import type { Responder } from './responder.js';

/** Answers a request for an operation of the spec, after its body was read. */
export async function handle(
  endpoint: Endpoint,
  exchange: HttpExchange,
  context: ServiceContext,
  responder: Responder,
): Promise<void> {
  const parsed = new ParsedRequest(endpoint, exchange, context.settings);
  const { parameters } = parsed;
  exchange.app = context.store.knownApp(parameterText(parameters, 'app_key')) ?? null;
  exchange.operation = endpoint.operation;
  exchange.parameters = parameters;
  const unionId = parameters.get('union_id');
  if (unionId) exchange.user = { by: 'union_id', unionId };
  const deadline = context.store.newDeadline();
  try {
    const received = parsed.check();
    let app = await identify(received, exchange, context, deadline);
    // Its client is gone.
    if (exchange.request.socket.destroyed) return;
    admit(app, parameters, context);
    const operation = operations[endpoint.operation];
    const checkedRequest = () => operation(parameters, context.settings.platform);
    for (;;) {
      const random = randomOf(parameters, context);
      const store = new RequestStore(context.store, { app, random, deadline });
      const data = await carryOut(checkedRequest, exchange, store);
      if (data === 'random used') throw new RefusedError(resultCode.randomReplayed);
      if (data !== 'app changed') {
        responder.sendData(exchange, data);
        return;
      }
      exchange.app = null;
      exchange.isAuthenticated = false;
      app = await identify(received, exchange, context, deadline);
    }
  } catch (error) {
    responder.sendError(exchange, error);
  }
}

/**
 * Authenticates a request: first by the app as it was last read; if that fails, or there is none,
 * by the app as the database has it now.
 *
 * @throws InvalidInputError or RefusedError, as `authenticate` does
 */
async function identify(
  request: ReceivedRequest,
  exchange: HttpExchange,
  { store, settings, unixSeconds }: ServiceContext,
  deadline: number,
): Promise<App> {
  const authenticateAs = (app: App | null) => {
    exchange.app = app;
    const caller = authenticate(request, app, unixSeconds(), settings);
    exchange.isAuthenticated = true;
    return caller;
  };
  try {
    if (exchange.app !== null) return authenticateAs(exchange.app);
  } catch (error) {
    if (!(error instanceof UserInfoError)) throw error;
  }
  const appKey = parameterText(request.parameters, 'app_key');
  return authenticateAs(await store.findApp(appKey, deadline));
}

/** @throws RefusedError (42901) */
function admit(
  { app_key, tenant_code }: App,
  parameters: Parameters,
  context: ServiceContext,
): void {
  const seconds = context.appLimit(app_key);
  if (seconds > 0) throw new RefusedError(resultCode.tooManyRequests, { retryAfter: seconds });
  if (hasNeedlessEscapes(parameterText(parameters, 'user_info'))) {
    context.log({ event: 'needless_escapes', app_key, tenant_code });
  }
}

/** Size of what stands for a random, in bytes. */
const standInBytes = 16;

/** The random that a request uses up: one of its own where the platform allows a random twice. */
function randomOf(parameters: Parameters, { settings }: ServiceContext): string {
  if (settings.platform.replay !== 'allow') return parameterText(parameters, 'random');
  return randomBytes(standInBytes).toString('hex');
}

/**
 * Carries out a request, and returns `data` of its answer. The request uses up its random (§5.4)
 * whatever its result: refused ones, too. `store` is of this request.
 *
 * @throws InvalidInputError or RefusedError
 */
async function carryOut(
  checkedRequest: () => CheckedRequest,
  exchange: HttpExchange,
  store: RequestStore,
): Promise<object | Obstacle> {
  const result = await resultOf(checkedRequest, exchange, store);
  if (typeof result === 'string') return result;
  const obstacle = store.isRandomUsed ? null : await store.useRandom();
  if (obstacle !== null) return obstacle;
  if (result.kind === 'refused') throw result.error;
  return result.data;
}

/** The result of a request, whose user is noted as soon as it is known. */
async function resultOf(
  checkedRequest: () => CheckedRequest,
  exchange: HttpExchange,
  store: RequestStore,
): Promise<OperationResult | Obstacle> {
  const noteUser = ({ user }: CheckedRequest | OperationResult) => {
    if (user !== null) exchange.user = user;
  };
  try {
    const checked = checkedRequest();
    noteUser(checked);
    const result = await checked.carryOut(store);
    if (typeof result !== 'string') noteUser(result);
    return result;
  } catch (error) {
    if (error instanceof StoreUnavailableError || !(error instanceof Error)) throw error;
    return { kind: 'refused', user: null, error };
  }
}
