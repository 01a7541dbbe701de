import type { UserInfoClientOptions } from '../client/options.js';
import type { Settings } from '../profiles/settings.js';
import type { Secret } from '../signing/secret.js';
import type { CliContext } from './context.js';
import { networkOptions } from './network-options.js';
import type { CommonOptions } from './options.js';
import { traceExchange } from './output/trace.js';
import { loadSigning, readSecretOf } from './resolve-service.js';

/** What a client is made with: the settings, the options, and the secret, which is fetched here unless it is given. */
export async function clientOptions(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  secret?: Secret,
): Promise<UserInfoClientOptions> {
  const { io, now } = context;
  return {
    baseUrl: settings.base_url.value,
    tenantCode: settings.tenant_code.value,
    channel: settings.channel.value,
    appKey: settings.app_key.value,
    appSecret: secret ?? (await readSecretOf(context, settings)),
    timeoutMs: options.timeout,
    attempts: options.attempts,
    now,
    ...(await networkOptions(settings, io.env)),
    ...(settings.signing === null ? {} : { signing: await loadSigning(context, settings.signing) }),
    ...(options.verbose ? traceExchange(io) : {}),
  };
}
