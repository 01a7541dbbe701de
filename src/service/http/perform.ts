import { InvalidInputError } from '../../protocol/errors.js';
import { parameterText } from '../../protocol/parameters.js';
import { resultCode } from '../../protocol/result-codes.js';
import { hasNeedlessEscapes } from '../../protocol/user-info.js';
import type { App } from '../store/apps.js';
import { passback, read } from './operations.js';
import type { ReceivedRequest } from './received-request.js';
import { RefusedError, TooManyRequestsError } from './refusal.js';
import type { ServiceContext } from './service-context.js';

const operations = { read, passback };

/** Does what a request of an app asks for, and gives `data` of the answer. Throws what the request is refused with. */
export async function perform(
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
    if (!(await records.nonces.take(nonce))) throw new RefusedError(resultCode.randomReplayed);
    return await settle(() => operations[endpoint.operation](parameters, records));
  });
  if (outcome.refusal !== undefined) throw outcome.refusal;
  return outcome.data;
}

type Outcome =
  | { readonly data: object; readonly refusal?: never }
  | { readonly refusal: InvalidInputError | RefusedError };

/** A refused request has used its `random` all the same: its transaction must not be rolled back. */
async function settle(work: () => Promise<object>): Promise<Outcome> {
  try {
    return { data: await work() };
  } catch (error) {
    if (error instanceof InvalidInputError || error instanceof RefusedError) return { refusal: error };
    throw error;
  }
}
