import { InvalidInputError } from '../../protocol/errors.js';
import { parameterText } from '../../protocol/parameters.js';
import { resultCode } from '../../protocol/result-codes.js';
import { hasNeedlessEscapes } from '../../protocol/user-info.js';
import type { App } from '../store/apps.js';
import { authenticate } from './authenticate.js';
import { passback, read } from './operations.js';
import type { ReceivedRequest } from './received-request.js';
import { RefusedError } from './refusal.js';
import type { ServiceContext } from './service-context.js';

const operations = { read, passback };

/**
 * Does what a request asks for, and gives `data` of the answer. `app` is the one that it names, `null` where there is
 * none. Throws what it is refused with.
 */
export async function perform(
  request: ReceivedRequest,
  app: App | null,
  context: ServiceContext,
): Promise<object> {
  const { parameters, endpoint } = request;
  // One time for all: a second later its timestamp is too old, and its `random` forgotten.
  const now = context.unixSeconds();
  const { app_key, tenant_code } = authenticate(request, app, now, context);
  if (hasNeedlessEscapes(parameterText(parameters, 'user_info'))) {
    context.log({ event: 'needless_escapes', app_key, tenant_code });
  }
  const nonce = {
    tenantCode: tenant_code,
    appKey: app_key,
    random: parameterText(parameters, 'random'),
    expiresAt: Number(parameters.get('timestamp')) + context.clockWindowSeconds,
  };
  const outcome = await context.store.write(async (records) => {
    if (!(await records.nonces.take(nonce, now))) throw new RefusedError(resultCode.randomReplayed);
    return await settle(() => operations[endpoint.operation](parameters, records, now));
  });
  context.purge(tenant_code);
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
