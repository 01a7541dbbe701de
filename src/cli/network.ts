import type { UserInfoClientOptions } from '../client/options.js';
import { parseProxy, proxyFor } from '../client/proxy.js';
import { describeOrigin } from '../profiles/flags-and-environment.js';
import type { Settings } from '../profiles/settings.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { readNamedFile } from './input.js';
import type { Io } from './io.js';

/**
 * How a client reaches the service from this machine.
 *
 * @throws InvalidInputError for an unreadable CA file or an invalid proxy
 */
export async function networkOptions(
  { base_url, allow_http, ca_file }: Pick<Settings, 'base_url' | 'allow_http' | 'ca_file'>,
  env: Io['env'],
): Promise<Pick<UserInfoClientOptions, 'allowHttp' | 'extraCa' | 'proxy'>> {
  const proxy = proxyFor(base_url.value, env);
  if (proxy !== null) parseProxy(proxy.address, proxy.variable);
  return {
    allowHttp: allow_http !== null,
    ...(ca_file === null ? {} : { extraCa: await readAuthorities(ca_file, env.NODE_EXTRA_CA_CERTS) }),
    ...(proxy === null ? {} : { proxy: proxy.address }),
  };
}

/** Adds NODE_EXTRA_CA_CERTS, which Node ignores if authorities are given explicitly. */
async function readAuthorities(
  file: NonNullable<Settings['ca_file']>,
  extra: string | undefined,
): Promise<string> {
  const label = `the CA file ${quoteName(file.value)} (${describeOrigin(file.origin)})`;
  const ours = await readNamedFile(file.value, label, { isKept: file.origin.kind === 'profile' });
  const { checkAuthorities } = await import('../client/tls-trust.js');
  checkAuthorities(ours, label);
  if (!extra) return ours;
  return `${ours}\n${await readNamedFile(extra, `the file ${quoteName(extra)} (NODE_EXTRA_CA_CERTS)`)}`;
}
