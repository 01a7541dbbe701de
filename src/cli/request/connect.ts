import type { CallClient } from '../../client/call/client.js';
import type { ClientHooks } from '../../client/call/hooks.js';
import type { UserInfoClientOptions } from '../../client/call/options.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { readHeaders } from '../../core/profiles/header-source.js';
import { lackingHeaders, needsSafeFile, type Settings } from '../../core/profiles/settings.js';
import type { Secret } from '../../core/signing/secret.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import type { CliContext } from '../command.js';
import type { CommonOptions } from '../command-line/options.js';
import type { Io } from '../io.js';
import { showText } from '../output/terminal-text.js';
import { headerCommand, loadSigning, readSecretOf } from './deployment.js';
import { networkOptions } from './network.js';

/** What a command asks of its client besides the settings and the options. */
interface ConnectOptions {
  /** The app secret, if it was read before. */
  readonly secret?: Secret;
  /** Maximum number of open connections. */
  readonly connections?: number;
  /** What a passback is answered with is looked at, not judged: it may name another user. */
  readonly acceptsAnyUser?: true;
}

/**
 * A client for the deployment of the settings. Nothing is sent yet; the secret and the headers are
 * read, and a signing module is loaded.
 *
 * @throws InvalidInputError for a base URL, a proxy or a file that cannot be used, and for a header
 * that the platform needs and the profile does not have; CredentialError, ProfileFileError,
 * SigningModuleError
 */
export async function connectTo(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  { secret, connections, acceptsAnyUser }: ConnectOptions = {},
): Promise<CallClient> {
  const { io } = context;
  if (needsSafeFile(settings)) context.profiles.refuseUnsafeFile();
  const appSecret = secret ?? (await readSecretOf(context, settings));
  const network = await networkOptions(settings, io.env);
  const { signers } = await loadSigning(context, settings);
  const { signing: _, ...platform } = settings.platform.value;
  const headers = await headersOf(context, settings);
  const hooks = options.verbose ? traceExchange(io) : {};
  return context.connect(
    withoutUndefined({
      ...network,
      baseUrl: settings.address(),
      tenantCode: settings.tenant_code.value,
      channel: settings.channel.value,
      appKey: settings.app_key.value,
      appSecret,
      timeoutMs: options.timeout,
      attempts: options.attempts,
      connections,
      platform: acceptsAnyUser ? { ...platform, passback_union_id: 'any' as const } : platform,
      signing: signers,
      headers,
      ...hooks,
    }),
  );
}

/**
 * Reads the values of the headers of a profile.
 *
 * @throws InvalidInputError for one that the platform needs and the profile does not have,
 * CredentialError
 */
async function headersOf(
  { io }: CliContext,
  settings: Settings,
): Promise<NonNullable<UserInfoClientOptions['headers']>> {
  const { headers, profile } = settings;
  const [missing] = lackingHeaders(settings);
  if (missing !== undefined) {
    const noProfile = 'Say where its value is, in a profile such as shop:';
    throw new InvalidInputError(`the platform needs the header ${missing}`, {
      hint: profile === null ? noProfile : 'Say where its value is:',
      commands: [headerCommand(profile ?? 'shop', missing)],
    });
  }
  return readHeaders(headers, io.env);
}

/**
 * For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data
 * is masked.
 */
function traceExchange(io: Io): ClientHooks {
  const print = (lines: readonly string[]) =>
    io.stderr.write(lines.map((line) => `${showText(line)}\n`).join(''));
  return {
    onRequest: ({ method, url, attempt, parameters }) => {
      const number = attempt > 1 ? ` (attempt ${attempt})` : '';
      const shownParameters = parameters.map(([name, value]) => `>   ${name}=${value}`);
      print([`> ${method} ${url}${number}`, ...shownParameters]);
    },
    onResponse: ({ httpStatus, resultCode, durationMs, headers, envelope }) => {
      const lines = [`< HTTP ${httpStatus}, code ${resultCode ?? 'none'}, ${durationMs} ms`];
      for (const [name, value] of headers) lines.push(`<   ${name}: ${value}`);
      if (envelope !== undefined) lines.push(`<   ${envelope}`);
      print(lines);
    },
    onNoAnswer: ({ message, reason, durationMs }) => {
      print([`< no answer (${reason}), ${durationMs} ms: ${message}`]);
    },
  };
}
