import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../protocol/endpoints.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { splitInfoNames } from '../../protocol/info-names.js';
import { type Parameters, parameterText } from '../../protocol/parameters.js';
import { applyPassback, checkPassback } from '../../protocol/passback.js';
import { type AnyReadData, readData } from '../../protocol/read-data.js';
import { resultCode } from '../../protocol/result-codes.js';
import { hasNeedlessEscapes, parseUserInfo } from '../../protocol/user-info.js';
import { checkRecordSize } from '../../protocol/user-record.js';
import type { ServiceContext } from '../service.js';
import type { App } from '../store/apps.js';
import type { Records } from '../store/store.js';
import { authenticate } from './authenticate.js';
import { parseRequest, type ReceivedRequest } from './received-request.js';
import { RefusedError, TooManyRequestsError } from './refusal.js';
import type { RequestInfo, Responder } from './responder.js';

/** Answers a request for an operation of the spec, after its body was read. */
export async function handle(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ServiceContext,
  responder: Responder,
): Promise<FastifyReply> {
  const received = parseRequest(endpoint, request);
  const { parameters } = received;
  let info: RequestInfo = { operation: endpoint.operation, parameters };
  try {
    const checked = received.check();
    const app = await context.store.read(({ apps }) => apps.find(parameterText(parameters, 'app_key')));
    info = { ...info, app };
    const caller = authenticate(checked, app, context.unixSeconds(), context.settings.clockWindowSeconds);
    info = { ...info, isAuthenticated: true };
    return responder.sendData(reply, info, await perform(checked, caller, context));
  } catch (error) {
    return responder.sendError(reply, info, error);
  }
}

const operations = { read, passback };

/**
 * Carries out a request of an app, and returns `data` of the answer.
 *
 * @throws TooManyRequestsError, or another reason for which the request is refused
 */
async function perform(
  request: ReceivedRequest,
  { app_key, tenant_code }: App,
  context: ServiceContext,
): Promise<object> {
  const { parameters, endpoint } = request;
  const seconds = context.appLimit?.take(app_key) ?? 0;
  if (seconds > 0) throw new TooManyRequestsError(seconds);
  if (hasNeedlessEscapes(parameterText(parameters, 'user_info'))) {
    context.log({ event: 'needless_escapes', app_key, tenant_code });
  }
  const nonce = {
    tenantCode: tenant_code,
    appKey: app_key,
    random: parameterText(parameters, 'random'),
  };
  const outcome = await context.store.write(async (records) => {
    if (!(await records.nonces.use(nonce))) throw new RefusedError(resultCode.randomReplayed);
    return await settle(() => operations[endpoint.operation](parameters, records));
  });
  if (outcome.refusal !== undefined) throw outcome.refusal;
  return outcome.data;
}

type Outcome =
  | { readonly data: object; readonly refusal?: never }
  | { readonly refusal: InvalidInputError | RefusedError };

/** Keeps a refusal from rolling back the transaction: a refused request has used its `random`. */
async function settle(work: () => Promise<object>): Promise<Outcome> {
  try {
    return { data: await work() };
  } catch (error) {
    if (error instanceof InvalidInputError || error instanceof RefusedError) return { refusal: error };
    throw error;
  }
}

/**
 * §4.1, for an authenticated app.
 *
 * @throws RefusedError (40106)
 */
async function read(parameters: Parameters, records: Records): Promise<AnyReadData> {
  const tenantCode = parameterText(parameters, 'tenant_code');
  const code = await records.codes.use(tenantCode, parameterText(parameters, 'code'));
  const record = code && (await records.users.find(tenantCode, code.union_id));
  if (code === null || record === null) throw new RefusedError(resultCode.codeNotValid);
  const infoName = parameterText(parameters, 'info_name');
  return readData(record, infoName === '' ? null : splitInfoNames(infoName), code.info_names);
}

/**
 * §4.2, for an authenticated app.
 *
 * @throws InvalidInputError (40003 to 40006, 41301)
 * @throws RefusedError (40401, 40901)
 */
async function passback(parameters: Parameters, records: Records): Promise<{ readonly union_id: string }> {
  const target = { unionId: parameters.get('union_id'), primaryKey: parameters.get('primary_key') };
  const { user, userInfo } = checkPassback(target, () =>
    parseUserInfo(parameterText(parameters, 'user_info')),
  );
  const changed = await records.users.change(parameterText(parameters, 'tenant_code'), user, (record) =>
    checkRecordSize(applyPassback(record, userInfo)),
  );
  if (changed === 'no user') throw new RefusedError(resultCode.noSuchUser);
  if (changed === 'several users') throw new RefusedError(resultCode.ambiguousPrimaryKey);
  return { union_id: changed.union_id };
}
