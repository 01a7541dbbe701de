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
import type { PassbackRequest } from '../store/operations.js';
import { authenticate } from './authenticate.js';
import type { HttpExchange } from './exchange.js';
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
    const carryOut = operations[endpoint.operation];
    for (;;) {
      const data = await carryOut({ exchange, parameters, app, context, deadline });
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

/** Size of what stands for a random, and of the ID of a user that a passback creates. */
const idBytes = 16;

/** A request of an authenticated app. */
interface AdmittedRequest {
  readonly exchange: HttpExchange;
  readonly parameters: Parameters;
  readonly app: App;
  readonly context: ServiceContext;
  /** When it has to be answered, by `performance.now()`. */
  readonly deadline: number;
}

/** Carries out a request, notes its user, and returns `data` of the answer. */
type Operation = (request: AdmittedRequest) => Promise<object | Obstacle>;

/**
 * §4.1.
 *
 * @throws RefusedError (40106)
 */
const read: Operation = async ({ exchange, parameters, app, context, deadline }) => {
  const result = await context.store.readUser({
    app,
    random: randomOf(parameters, context),
    code: parameterText(parameters, 'code'),
    deadline,
  });
  if (typeof result === 'string') return result;
  const { record, infoNames, unionId } = result;
  if (unionId !== null) exchange.user = { by: 'union_id', unionId };
  if (record === null) throw new RefusedError(resultCode.codeNotValid);
  const infoName = parameterText(parameters, 'info_name');
  const names = infoName === '' ? null : splitInfoNames(infoName);
  return readData(record, names, infoNames, context.settings.platform);
};

/** The random that a request uses up: one of its own where the platform allows a random twice. */
function randomOf(parameters: Parameters, context: ServiceContext): string {
  const { replay } = context.settings.platform;
  return replay === 'allow' ? randomHex(idBytes) : parameterText(parameters, 'random');
}

/**
 * §4.2.
 *
 * @throws InvalidInputError (40003 to 40006, 41301)
 * @throws RefusedError (40401, 40901)
 */
const passback: Operation = async ({ exchange, parameters, app, context, deadline }) => {
  const { store } = context;
  const { values, chat_prefix, unknown_user } = context.settings.platform;
  const random = randomOf(parameters, context);
  let checked: CheckedPassback;
  try {
    checked = checkedPassback(parameters);
  } catch (error) {
    // A refused request uses up its random.
    const obstacle = await store.write(({ apps }) => apps.useRandom(app, random), deadline);
    if (obstacle !== null) return obstacle;
    throw error;
  }
  const { user } = checked;
  exchange.user = user;
  const storedName = (name: string) => exchangeChatPrefix(name, chat_prefix);
  const userInfo = new Map([...checked.userInfo].map(([key, value]) => [storedName(key), value]));
  const request: PassbackRequest = {
    app,
    random,
    deadline,
    user: user.by === 'union_id' ? user : { ...user, name: storedName(user.name) },
    change: (record) => checkRecordSize(applyPassback(record, userInfo, values)),
  };
  const result = await store.passBack(
    unknown_user === 'create' ? { ...request, newUnionId: randomHex(idBytes) } : request,
  );
  if (result === 'no user') throw new RefusedError(resultCode.noSuchUser);
  if (result === 'several users') throw new RefusedError(resultCode.ambiguousPrimaryKey);
  if (result instanceof UserInfoError) throw result;
  if (typeof result === 'string') return result;
  exchange.user = { by: 'union_id', unionId: result.union_id };
  return { union_id: result.union_id };
};

type CheckedPassback = ReturnType<typeof checkPassback>;

/** @throws InvalidInputError (40003 to 40006, 41301) */
function checkedPassback(parameters: Parameters): CheckedPassback {
  const target = { unionId: parameters.get('union_id'), primaryKey: parameters.get('primary_key') };
  return checkPassback(target, () =>
    parseUserInfo(parameterText(parameters, 'user_info'), maxPassbackKeys),
  );
}

const operations: Readonly<Record<OperationName, Operation>> = { read, passback };
