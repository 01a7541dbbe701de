import { readFileSync } from 'node:fs';
import type { UserInfoClientOptions } from '../client/options.js';
import { parseProxy } from '../client/proxy.js';
import { describeOrigin } from '../profiles/given-values.js';
import type { Settings } from '../profiles/settings.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import type { Io } from './io.js';
import { proxyFor } from './proxy-for.js';
import { decodeUtf8 } from './utf8.js';

type NetworkOptions = Pick<UserInfoClientOptions, 'allowHttp' | 'extraCa' | 'proxy'>;

/**
 * How a client is to reach the service from here. Throws an InvalidInputError for a CA file that cannot be read, or a
 * proxy that is none.
 */
export async function networkOptions(
  { base_url, allow_http, ca_file }: Pick<Settings, 'base_url' | 'allow_http' | 'ca_file'>,
  env: Io['env'],
): Promise<NetworkOptions> {
  const proxy = proxyFor(base_url.value, env);
  if (proxy !== null) parseProxy(proxy.address, proxy.variable);
  return {
    allowHttp: allow_http !== null,
    ...(ca_file === null ? {} : { extraCa: await readAuthorities(ca_file, env.NODE_EXTRA_CA_CERTS) }),
    ...(proxy === null ? {} : { proxy: proxy.address }),
  };
}

/** Node reads NODE_EXTRA_CA_CERTS by itself, but lets it go where authorities are named. */
async function readAuthorities(
  file: NonNullable<Settings['ca_file']>,
  extra: string | undefined,
): Promise<string> {
  const label = `the CA file (${describeOrigin(file.origin)})`;
  const ours = await readPem(file.value, label);
  const { checkAuthorities } = await import('../client/trust.js');
  checkAuthorities(ours, label);
  return extra ? `${ours}\n${await readPem(extra, 'the file of NODE_EXTRA_CA_CERTS')}` : ours;
}

async function readPem(path: string, label: string): Promise<string> {
  try {
    return decodeUtf8(readFileSync(path), label);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new InvalidInputError(`${label} cannot be read (${code}): ${quoteName(path)}`, { cause: error });
  }
}
