import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ClientHooks } from '../client/hooks.js';
import type { UserInfoClientOptions } from '../client/options.js';
import { parseProxy } from '../client/proxy.js';
import { describeOrigin } from '../profiles/flags-and-environment.js';
import { secretWarnings } from '../profiles/secret.js';
import { resolveSettings, type Settings } from '../profiles/settings.js';
import { type SigningSource, usesModule } from '../profiles/signing-source.js';
import { refusePlainHttp } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { type PlatformResultCodes, parseResultCodes } from '../protocol/result-code-table.js';
import { quoteName } from '../protocol/text.js';
import type { Signers } from '../signing/app-signatures.js';
import type { Secret } from '../signing/secret.js';
import { shellRunner } from '../support/shell.js';
import type { CliContext } from './context.js';
import { decodeUtf8, readJson } from './input.js';
import { type Io, say } from './io.js';
import type { CommonOptions, ConnectionOptions } from './options.js';
import { warn } from './output/style.js';
import { showText } from './output/terminal-text.js';

/** Resolves the settings of a command that calls the service, and prints their warnings. */
export async function resolveService(
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<Settings> {
  const { io, profiles } = context;
  const settings = await resolveSettings({
    flags: options,
    env: io.env,
    run: shellRunner(io.env),
    store: profiles,
  });
  for (const warning of settings.warnings) await warn(io, warning);
  refuseApiPath(settings.base_url);
  refusePlainHttp(
    settings.base_url.value,
    settings.allow_http !== null,
    '--allow-http',
    `the base URL (${describeOrigin(settings.base_url.origin)})`,
  );
  await announceProduction(io, settings);
  return settings;
}

/** @throws InvalidInputError for a base URL with the path of the operations, which is added to it */
function refuseApiPath({ value, origin }: Settings['base_url']): void {
  const [before, path] = value.split(/(?=\/api\/v1\b)/);
  if (path === undefined) return;
  throw new InvalidInputError(`the base URL (${describeOrigin(origin)}) contains ${path}`, {
    hint: `Nothing was sent. Give what comes before it: ${before}`,
  });
}

/** Announces that a command is about to call production. */
export async function announceProduction(
  io: Io,
  { environment, profile, base_url }: Pick<Settings, 'environment' | 'profile' | 'base_url'>,
): Promise<void> {
  if (environment.value !== 'production') return;
  const who = profile === null ? '' : `profile "${profile}", `;
  await say(io, `production: ${who}${new URL(base_url.value).host}`);
}

/** Reads the secret, and warns of characters that copy-and-paste may have added. */
export async function readSecretOf(context: CliContext, settings: Pick<Settings, 'secret'>): Promise<Secret> {
  const secret = await settings.secret.read();
  for (const warning of secretWarnings(secret)) await warn(context.io, warning);
  return secret;
}

/** Creates the signers of a profile; this loads a signing module. */
export async function loadSigning({ profiles }: CliContext, source: SigningSource): Promise<Signers> {
  if (usesModule(source)) profiles.refuseUnsafeFile();
  const { loadSigners } = await import('../profiles/load-signers.js');
  return loadSigners(source, dirname(profiles.path));
}

/** The options of a client: settings, command-line options, and the secret, which is read here unless given. */
export async function clientOptions(
  context: CliContext,
  settings: Settings,
  options: CommonOptions & Pick<ConnectionOptions, 'resultCodes'>,
  secret?: Secret,
): Promise<UserInfoClientOptions> {
  const { io } = context;
  const resultCodes = (await readResultCodes(context, options)) ?? settings.result_codes;
  return {
    baseUrl: settings.base_url.value,
    tenantCode: settings.tenant_code.value,
    channel: settings.channel.value,
    appKey: settings.app_key.value,
    appSecret: secret ?? (await readSecretOf(context, settings)),
    timeoutMs: options.timeout,
    attempts: options.attempts,
    ...(await networkOptions(settings, io.env)),
    ...(settings.signing === null ? {} : { signing: await loadSigning(context, settings.signing) }),
    ...(resultCodes === null ? {} : { resultCodes }),
    ...(options.verbose ? traceExchange(io) : {}),
  };
}

/**
 * The result codes of the file of `--result-codes`; `null` if it is empty, `undefined` without the option.
 *
 * @throws InvalidInputError for a file that cannot be read, or codes that are not valid
 */
export async function readResultCodes(
  context: CliContext,
  { resultCodes: file }: Pick<ConnectionOptions, 'resultCodes'>,
): Promise<PlatformResultCodes | null | undefined> {
  if (file === undefined) return undefined;
  if (file === '') return null;
  const json = await readJson(context, file);
  parseResultCodes(json, quoteName(file));
  return json as PlatformResultCodes;
}

/** For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data is masked. */
function traceExchange(io: Io): Required<ClientHooks> {
  const print = (...lines: readonly string[]) =>
    io.stderr.write(lines.map((line) => `${showText(line)}\n`).join(''));
  return {
    onRequest: ({ method, url, attempt, parameters }) =>
      print(
        `> ${method} ${url}${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
        ...parameters.map(([name, value]) => `>   ${name}=${value}`),
      ),
    onResponse: ({ httpStatus, resultCode, durationMs, headers, envelope }) =>
      print(
        `< HTTP ${httpStatus}, code ${resultCode ?? 'none'}, ${durationMs} ms`,
        ...headers.map(([name, value]) => `<   ${name}: ${value}`),
        ...(envelope === undefined ? [] : [`<   ${envelope}`]),
      ),
    onNoAnswer: ({ message, reason, durationMs }) =>
      print(`< no answer (${reason}), ${durationMs} ms: ${message}`),
  };
}

type NetworkOptions = Pick<UserInfoClientOptions, 'allowHttp' | 'extraCa' | 'proxy'>;

/**
 * How a client reaches the service from this machine.
 *
 * @throws InvalidInputError for an unreadable CA file or an invalid proxy
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

/** Adds NODE_EXTRA_CA_CERTS, which Node ignores if authorities are given explicitly. */
async function readAuthorities(
  file: NonNullable<Settings['ca_file']>,
  extra: string | undefined,
): Promise<string> {
  const label = `the CA file (${describeOrigin(file.origin)})`;
  const ours = await readPem(file.value, label);
  const { checkAuthorities } = await import('../client/tls-trust.js');
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

/** A proxy, and the environment variable that names it. */
interface NamedProxy {
  readonly address: string;
  readonly variable: string;
}

/**
 * The proxy for a base URL: HTTPS_PROXY or HTTP_PROXY by its scheme, unless NO_PROXY lists its host. The lower-
 * case names take precedence, as in curl. `null`: no proxy.
 */
export function proxyFor(baseUrl: string, env: Io['env']): NamedProxy | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const variable = env[name.toLowerCase()] ? name.toLowerCase() : name;
  const address = env[variable];
  if (!address) return null;
  const exceptions = (env.no_proxy || env.NO_PROXY || '').split(/[,\s]+/).filter((entry) => entry !== '');
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions.some((entry) => covers(entry, hostname, usedPort)) ? null : { address, variable };
}

/**
 * Whether an entry of NO_PROXY matches: `*` any host; a name, `.name` and `*.name` that host and its subdomains;
 * `:port` limits it to a port.
 */
function covers(entry: string, hostname: string, port: string): boolean {
  if (entry === '*') return true;
  const [, name = entry, onlyPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
  const isIpv6 = name.includes(':') && !name.startsWith('[');
  const covered = (isIpv6 ? `[${entry}]` : name.replace(/^\*?\./, '')).toLowerCase();
  if (!isIpv6 && onlyPort !== undefined && onlyPort !== port) return false;
  return hostname === covered || hostname.endsWith(`.${covered}`);
}
