import { readData } from '../../core/contract/answer-data.js';
import type { Endpoint, OperationName } from '../../core/contract/endpoints.js';
import { UserInfoError } from '../../core/contract/errors.js';
import { exchangeChatPrefix, splitInfoNames } from '../../core/contract/info-names.js';
import { maxPassbackKeys } from '../../core/contract/limits.js';
import { type Parameters, parameterText } from '../../core/contract/parameters.js';
import { checkPassback } from '../../core/contract/passback.js';
import { resultCode } from '../../core/contract/result-codes.js';
import { hasNeedlessEscapes, parseUserInfo } from '../../core/contract/user-info.js';
import { applyPassback, checkRecordSize } from '../../core/contract/user-record.js';
import { randomHex } from '../administration/admin-context.js';
import type { ServiceContext } from '../context.js';
import type { App, Obstacle } from '../store/apps.js';
import { authenticate } from './authenticate.js';
import type { HttpExchange } from './exchange.js';
import { parseRequest, type ReceivedRequest } from './received-request.js';
import { RefusedError } from './refusal.js';
import type { Responder } from './responder.js';

/** Answers a request for an operation of the spec, after its body was read. */
export async function handle(
  endpoint: Endpoint,
  exchange: HttpExchange,
  context: ServiceContext,
  responder: Responder,
): Promise<void> {
  const received = parseRequest(endpoint, exchange, context.settings);
  const { parameters } = received;
  exchange.app = context.store.knownApp(parameterText(parameters, 'app_key')) ?? null;
  exchange.operation = endpoint.operation;
  exchange.parameters = parameters;
  const unionId = parameters.get('union_id');
  if (unionId) exchange.user = { by: 'union_id', unionId };
  const deadline = context.store.newDeadline();
  try {
    const checked = received.check();
    let app = await identify(checked, exchange, context, deadline);
    // Its client is gone.
    if (exchange.request.socket.destroyed) return;
    admit(app, parameters, context);
    for (;;) {
      const data = await operations[endpoint.operation](
        exchange,
        parameters,
        app,
        context,
        deadline,
      );
      if (data === 'random used') throw new RefusedError(resultCode.randomReplayed);
      if (data !== 'app changed') return responder.sendData(exchange, data);
      exchange.app = null;
      exchange.isAuthenticated = false;
      app = await identify(checked, exchange, context, deadline);
    }
  } catch (error) {
    responder.sendError(exchange, error);
  }
}

/**
 * Authenticates a request: by its app as it was last read, unless it has none, or as it is now: it
 * may have changed.
 *
 * @throws InvalidInputError or RefusedError, as `authenticate` does
 */
async function identify(
  request: ReceivedRequest,
  exchange: HttpExchange,
  { store, settings, unixSeconds }: ServiceContext,
  deadline: number,
): Promise<App> {
  const check = (app: App | null) => {
    exchange.app = app;
    const caller = authenticate(request, app, unixSeconds(), settings);
    exchange.isAuthenticated = true;
    return caller;
  };
  try {
    if (exchange.app) return check(exchange.app);
  } catch (error) {
    if (!(error instanceof UserInfoError)) throw error;
  }
  return check(await store.findApp(parameterText(request.parameters, 'app_key'), deadline));
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

/** Size of what stands for a random, and of the ID of a user that a passback creates. */
const idBytes = 16;

/**
 * Carries out a request of an authenticated app, notes its user, and returns `data` of the answer.
 */
type Operation = (
  exchange: HttpExchange,
  parameters: Parameters,
  app: App,
  context: ServiceContext,
  deadline: number,
) => Promise<object | Obstacle>;

/** §4.1. Throws a RefusedError (40106). */
const read: Operation = async (exchange, parameters, app, context, deadline) => {
  const { platform } = context.settings;
  const [random, code] = [randomOf(parameters, context), parameterText(parameters, 'code')];
  const outcome = await context.store.readUser({ app, random, code, deadline });
  if (typeof outcome === 'string') return outcome;
  const { unionId } = outcome;
  if (unionId !== null) exchange.user = { by: 'union_id', unionId };
  if (outcome.record === null) throw new RefusedError(resultCode.codeNotValid);
  const infoName = parameterText(parameters, 'info_name');
  const names = infoName === '' ? null : splitInfoNames(infoName);
  return readData(outcome.record, names, outcome.infoNames, platform);
};

/** The random that a request uses up: one of its own where the platform allows a random twice. */
function randomOf(parameters: Parameters, context: ServiceContext): string {
  const { replay } = context.settings.platform;
  return replay === 'allow' ? randomHex(idBytes) : parameterText(parameters, 'random');
}

/** §4.2. Throws an InvalidInputError (40003 to 40006, 41301) or a RefusedError (40401, 40901). */
const passback: Operation = async (exchange, parameters, app, context, deadline) => {
  const { store } = context;
  const { values, chat_prefix, unknown_user } = context.settings.platform;
  const random = randomOf(parameters, context);
  const target = { unionId: parameters.get('union_id'), primaryKey: parameters.get('primary_key') };
  let checked: ReturnType<typeof checkPassback>;
  try {
    checked = checkPassback(target, () =>
      parseUserInfo(parameterText(parameters, 'user_info'), maxPassbackKeys),
    );
  } catch (error) {
    // A refused request uses up its random.
    const obstacle = await store.write(({ apps }) => apps.useRandom(app, random), deadline);
    if (obstacle !== null) return obstacle;
    throw error;
  }
  const storedName = (name: string) => exchangeChatPrefix(name, chat_prefix);
  const userInfo = new Map([...checked.userInfo].map(([key, value]) => [storedName(key), value]));
  const { user } = checked;
  exchange.user = user;
  const outcome = await store.passBack({
    app,
    random,
    deadline,
    user: user.by === 'union_id' ? user : { ...user, name: storedName(user.name) },
    change: (record) => checkRecordSize(applyPassback(record, userInfo, values)),
    ...(unknown_user === 'create' && { newUnionId: randomHex(idBytes) }),
  });
  if (outcome === 'no user') throw new RefusedError(resultCode.noSuchUser);
  if (outcome === 'several users') throw new RefusedError(resultCode.ambiguousPrimaryKey);
  if (outcome instanceof UserInfoError) throw outcome;
  if (typeof outcome === 'string') return outcome;
  exchange.user = { by: 'union_id', unionId: outcome.union_id };
  return { union_id: outcome.union_id };
};

const operations: Readonly<Record<OperationName, Operation>> = { read, passback };
