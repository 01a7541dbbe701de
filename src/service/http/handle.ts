import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../protocol/endpoints.js';
import { UserInfoError } from '../../protocol/errors.js';
import { splitInfoNames } from '../../protocol/info-names.js';
import { maxRecordKeys } from '../../protocol/limits.js';
import { type Parameters, parameterText } from '../../protocol/parameters.js';
import { applyPassback, checkPassback } from '../../protocol/passback.js';
import { decodePairs } from '../../protocol/percent-encoding.js';
import { resultCode } from '../../protocol/result-codes.js';
import { hasNeedlessEscapes, parseUserInfo } from '../../protocol/user-info.js';
import { type AnyReadData, checkRecordSize, readData } from '../../protocol/user-record.js';
import type { ServiceContext } from '../context.js';
import type { App, Obstacle } from '../store/apps.js';
import type { Store } from '../store/store.js';
import { authenticate } from './authenticate.js';
import { parseRequest, type ReceivedRequest } from './received-request.js';
import { RefusedError } from './refusal.js';
import type { RequestInfo, Responder } from './responder.js';

/** Answers a request for an operation of the spec, after its body was read, in the turn of its app. */
export function handle(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ServiceContext,
  responder: Responder,
): Promise<FastifyReply> {
  return context.turns.run(flowOf(request, context.store), async () => {
    // Its client is gone, or was cut off because of its large body.
    if (request.socket.destroyed) return reply.hijack();
    return await carryOut(endpoint, request, reply, context, responder);
  });
}

/** The app that a request names; one flow for all apps that are not known yet, or not at all. */
function flowOf({ url }: FastifyRequest, store: Store): string {
  const query = decodePairs(url.split('?').slice(1).join('?'));
  const appKey = query.find(([name]) => name === 'app_key')?.[1] ?? '';
  return store.knownApp(appKey) === undefined ? '' : appKey;
}

async function carryOut(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ServiceContext,
  responder: Responder,
): Promise<FastifyReply> {
  const { operation } = endpoint;
  const received = parseRequest(endpoint, request, context.settings.publicUrl);
  const { parameters } = received;
  const info: RequestInfo = { operation, parameters };
  const unionId = parameters.get('union_id');
  if (unionId) info.user = { by: 'union_id', unionId };
  try {
    const checked = received.check();
    let app = await identify(checked, info, context);
    admit(app, parameters, context);
    for (;;) {
      const data = await operations[operation](info, parameters, app, context.store);
      if (data === 'random used') throw new RefusedError(resultCode.randomReplayed);
      if (data !== 'app changed') return responder.sendData(reply, info, data);
      info.isAuthenticated = false;
      await context.store.findApp(app.app_key);
      app = await identify(checked, info, context);
    }
  } catch (error) {
    return responder.sendError(reply, info, error);
  }
}

/**
 * Authenticates a request, by its app as last read, or as it is now: it may have changed.
 *
 * @throws InvalidInputError or RefusedError, as `authenticate` does
 */
async function identify(
  request: ReceivedRequest,
  info: RequestInfo,
  { store, settings, unixSeconds }: ServiceContext,
): Promise<App> {
  const check = (app: App | null) => {
    info.app = app;
    const caller = authenticate(request, app, unixSeconds(), settings.clockWindowSeconds);
    info.isAuthenticated = true;
    return caller;
  };
  const appKey = parameterText(request.parameters, 'app_key');
  const known = store.knownApp(appKey);
  if (known !== undefined) {
    try {
      return check(known);
    } catch (error) {
      if (!(error instanceof UserInfoError)) throw error;
    }
  }
  return check(await store.findApp(appKey));
}

/** @throws RefusedError (42901) */
function admit({ app_key, tenant_code }: App, parameters: Parameters, context: ServiceContext): void {
  const seconds = context.appLimit?.take(app_key) ?? 0;
  if (seconds > 0) throw new RefusedError(resultCode.tooManyRequests, { retryAfter: seconds });
  if (hasNeedlessEscapes(parameterText(parameters, 'user_info'))) {
    context.log({ event: 'needless_escapes', app_key, tenant_code });
  }
}

/** Each carries out a request of an authenticated app, notes its user, and returns `data` of the answer. */
const operations = { read, passback };

/**
 * §4.1, for an authenticated app.
 *
 * @throws RefusedError (40106)
 */
async function read(
  info: RequestInfo,
  parameters: Parameters,
  app: App,
  store: Store,
): Promise<AnyReadData | Obstacle> {
  const [random, code] = [parameterText(parameters, 'random'), parameterText(parameters, 'code')];
  const outcome = await store.readUser({ app, random, code });
  if (typeof outcome === 'string') return outcome;
  const unionId = outcome.record === null ? outcome.unionId : outcome.record.union_id;
  if (unionId !== null) info.user = { by: 'union_id', unionId };
  if (outcome.record === null) throw new RefusedError(resultCode.codeNotValid);
  const infoName = parameterText(parameters, 'info_name');
  return readData(outcome.record, infoName === '' ? null : splitInfoNames(infoName), outcome.infoNames);
}

/**
 * §4.2, for an authenticated app.
 *
 * @throws InvalidInputError (40003 to 40006, 41301)
 * @throws RefusedError (40401, 40901)
 */
async function passback(
  info: RequestInfo,
  parameters: Parameters,
  app: App,
  store: Store,
): Promise<{ readonly union_id: string } | Obstacle> {
  const random = parameterText(parameters, 'random');
  const target = { unionId: parameters.get('union_id'), primaryKey: parameters.get('primary_key') };
  let checked: ReturnType<typeof checkPassback>;
  try {
    checked = checkPassback(target, () =>
      parseUserInfo(parameterText(parameters, 'user_info'), maxRecordKeys),
    );
  } catch (error) {
    // A refused request uses up its random.
    const outcome = await store.readUser({ app, random, code: null });
    if (outcome === 'random used' || outcome === 'app changed') return outcome;
    throw error;
  }
  const { user, userInfo } = checked;
  info.user = user;
  const outcome = await store.passBack({
    app,
    random,
    user,
    change: (record) => checkRecordSize(applyPassback(record, userInfo), record),
  });
  if (outcome === 'no user') throw new RefusedError(resultCode.noSuchUser);
  if (outcome === 'several users') throw new RefusedError(resultCode.ambiguousPrimaryKey);
  if (outcome instanceof UserInfoError) throw outcome;
  if (typeof outcome === 'string') return outcome;
  info.user = { by: 'union_id', unionId: outcome.union_id };
  return { union_id: outcome.union_id };
}
