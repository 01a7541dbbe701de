import type { Settings } from '../../profiles/settings.js';
import type { RunTarget } from '../../queue/run.js';

/** Where settings send rows. */
export function targetOf({ environment, base_url, tenant_code, channel }: Settings): RunTarget {
  return {
    environment: environment.value,
    base_url: base_url.value,
    tenant_code: tenant_code.value,
    channel: channel.value,
  };
}
