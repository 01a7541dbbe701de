import dns from 'node:dns';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { PeerCertificate } from 'node:tls';
import { promisify } from 'node:util';
import type { CallClient } from '../../../client/client.js';
import { type HttpProxy, nameHost, parseProxy } from '../../../client/proxy.js';
import { readRequest } from '../../../client/request.js';
import { toNoAnswerError } from '../../../client/transport-errors.js';
import { ProfileFileError } from '../../../profiles/errors.js';
import { describeOrigin } from '../../../profiles/flags-and-environment.js';
import { selecting } from '../../../profiles/profile-store.js';
import { describeSecretSource, secretWarnings, settingSecretAgain } from '../../../profiles/secret.js';
import { resolveSettings, type Settings } from '../../../profiles/settings.js';
import { isLoopback } from '../../../protocol/base-url.js';
import { UserInfoError } from '../../../protocol/errors.js';
import { defaultClockWindowSeconds, signLength } from '../../../protocol/limits.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import type { Secret } from '../../../signing/secret.js';
import { quoteWhereNeeded } from '../../../support/shell.js';
import { findUnsafePath } from '../../../support/trusted-path.js';
import { clientOptions } from '../../call/client-options.js';
import { announceProduction, refuseUnfitUrl, settingSources } from '../../call/deployment.js';
import { describeRule, explainFailure } from '../../call/explain-failure.late.js';
import { networkOptions, proxyOf } from '../../call/network.js';
import type { CommonOptions, ConnectionOptions } from '../../command-line/options.js';
import type { CliContext } from '../../context.js';
import { CheckFailedError, ExplainedError } from '../../report-error.js';
import { type Answered, type SentRequest, sendRead } from './request.js';

/** The input of the checks, and the findings of each for those after it. */
export interface Known {
  readonly context: CliContext;
  readonly options: CommonOptions & ConnectionOptions;
  settings?: Settings;
  url?: URL;
  secret?: Secret;
  /** `null`: a direct connection. */
  proxy?: HttpProxy | null;
  client?: CallClient;
  /** The host name of the service, or of the proxy, is resolved. */
  resolved?: true;
  request?: SentRequest;
}

/** The result of a check that did not fail: `next` is advice; `skipped` means that there was nothing to check. */
interface Finding {
  readonly detail: string;
  readonly next?: string;
  readonly commands?: readonly string[];
  readonly skipped?: true;
}

/** A check needs what an earlier one did not find. */
export class NotReachedError extends UserInfoError {
  readonly code = 'NOT_REACHED';
}

/** @throws NotReachedError if an earlier check did not find it */
function need<Name extends keyof Known>(known: Known, name: Name): Exclude<Known[Name], undefined> {
  const value = known[name];
  if (value === undefined) throw new NotReachedError('not reached');
  return value as Exclude<Known[Name], undefined>;
}

/** The checks in the order of a request. Each throws a UserInfoError if it fails. */
export const checks = {
  profile_file: checkProfileFile,
  settings: checkSettings,
  base_url: checkBaseUrl,
  app_secret: checkSecret,
  proxy: checkProxy,
  signing: checkSigning,
  dns: checkDns,
  connection: checkConnection,
  tls: checkTls,
  answer: checkAnswer,
  clock: checkClock,
  acceptance: checkAcceptance,
} satisfies Record<string, (known: Known) => Promise<Finding>>;

/** The profile file is readable, and private to its owner. */
async function checkProfileFile({ context: { profiles } }: Known): Promise<Finding> {
  const { path } = profiles;
  const list = await profiles.load();
  const { active, profiles: all } = list;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return { detail: `there is none: ${path}`, skipped: true };
  const unsafe = findUnsafePath(path);
  const mode = profiles.sharedMode();
  if (mode !== null) {
    throw new ProfileFileError(`${path}: other users can read it (mode ${mode})`, {
      hint: 'Restrict it:',
      commands: [`chmod 600 ${quoteWhereNeeded(path)}`],
    });
  }
  if (unsafe !== null) {
    const { reason, ...advice } = unsafe;
    throw new ProfileFileError(reason, advice);
  }
  const count = all.size === 1 ? '1 profile' : `${all.size} profiles`;
  const detail = `${path}: ${count}, ${active === null ? 'none' : quoteName(active)} active`;
  if (active === null || all.has(active)) return { detail };
  return { detail, next: 'Warning: the active profile does not exist. Choose another:', ...selecting(list) };
}

/** All values that a request needs are set. */
async function checkSettings(known: Known): Promise<Finding> {
  const { context, options } = known;
  const settings = await resolveSettings(settingSources(context, options));
  await announceProduction(context.io, settings);
  known.settings = settings;
  const { environment, tenant_code, channel, app_key, profile, warnings } = settings;
  const values = `tenant ${tenant_code.value}, channel ${channel.value}, app key ${app_key.value}`;
  const from = profile === null ? 'flags and environment variables' : `profile "${profile}"`;
  return { detail: `${environment.value}, ${values} (${from})`, ...adviceOf(warnings) };
}

function adviceOf(warnings: readonly string[]): Pick<Finding, 'next'> {
  return warnings.length === 0 ? {} : { next: `Warning: ${warnings.join('; ')}.` };
}

/** Requests may be sent to the base URL. */
async function checkBaseUrl(known: Known): Promise<Finding> {
  const settings = need(known, 'settings');
  refuseUnfitUrl(settings);
  const { base_url, allow_http, profile } = settings;
  const url = new URL(base_url.value);
  known.url = url;
  const detail = `${base_url.value} (${describeOrigin(base_url.origin)})`;
  if (allow_http === null) return { detail };
  const effect =
    url.protocol === 'http:' ? `: personal data is sent unencrypted to ${url.host}` : ', and not needed';
  const warning = `Warning: plain http is allowed (${describeOrigin(allow_http.origin)})${effect}.`;
  if (profile === null || allow_http.origin.kind !== 'profile') return { detail, next: warning };
  const commands = [`userinfo profile set ${profile} --no-allow-http`];
  return { detail, next: `${warning} To disallow it:`, commands };
}

/** The app secret can be read. */
async function checkSecret(known: Known): Promise<Finding> {
  const { profile, secret } = need(known, 'settings');
  known.secret = await secret.read();
  const detail = `found in ${describeSecretSource(secret.source)}`;
  const { next } = adviceOf(secretWarnings(known.secret));
  if (next === undefined) return { detail };
  const { hint, commands } = settingSecretAgain(profile, secret.source);
  return { detail, next: `${next} ${hint}`, commands };
}

/** The proxy of the connection, and the certificate authorities to trust. */
async function checkProxy(known: Known): Promise<Finding> {
  const { io } = known.context;
  const [settings, url] = [need(known, 'settings'), need(known, 'url')];
  await networkOptions(settings, io.env);
  const named = isLoopback(url.hostname) ? null : proxyOf(settings, io.env);
  known.proxy = named && parseProxy(named.address, named.name);
  if (known.proxy === null) return { detail: 'none for this host', skipped: true };
  return { detail: `${known.proxy.host} (${named?.name})` };
}

/** A request can be signed. The client makes one attempt per call. */
async function checkSigning(known: Known): Promise<Finding> {
  const [settings, secret] = [need(known, 'settings'), need(known, 'secret')];
  need(known, 'proxy');
  const once = { ...known.options, attempts: 1 };
  known.client = await known.context.connect(await clientOptions(known.context, settings, once, secret));
  const { searchParams } = known.client.sign(readRequest({ code: 'self-test' })).url;
  const lengthOf = (name: string) => searchParams.get(name)?.length ?? 0;
  const by = describeRule(settings);
  const detail = `by ${by}: app_sign has ${lengthOf('app_sign')} characters, sign ${lengthOf('sign')}`;
  if (lengthOf('sign') === signLength) return { detail };
  return {
    detail,
    next: `The platform's document requires a sign of ${signLength} characters: check the recipe.`,
  };
}

/** The host that a connection goes to has addresses: the proxy, if there is one. */
async function checkDns(known: Known): Promise<Finding> {
  const [url, proxy] = [need(known, 'url'), need(known, 'proxy')];
  const { hostname } = proxy === null ? url : new URL(proxy.url);
  const found = await findAddresses(hostname, known).catch((error: Error) => {
    throw toNoAnswerError(error, { host: nameHost(url.host, proxy), proxy, started: false });
  });
  known.resolved = true;
  return { detail: [...new Set(found.map(({ address }) => address))].join(', ') };
}

/** The addresses of a host. Throws an Error with the code of Node, EAI_AGAIN after `--timeout`. */
async function findAddresses(host: string, { options: { timeout } }: Known): Promise<dns.LookupAddress[]> {
  const late = once(AbortSignal.timeout(timeout), 'abort').then(() => {
    throw Object.assign(new Error('no name server answered'), { code: 'EAI_AGAIN' });
  });
  return Promise.race([promisify(dns.lookup)(host.replace(/^\[|\]$/g, ''), { all: true }), late]);
}

/** A connection can be opened. This sends the request of the checks that follow. */
async function checkConnection(known: Known): Promise<Finding> {
  const [url, proxy] = [need(known, 'url'), need(known, 'proxy')];
  need(known, 'resolved');
  known.request = await sendRead(need(known, 'client'), known.context.signal);
  const { error, connectMs } = known.request;
  const isOpen = connectMs !== undefined && error?.reason !== 'proxy';
  if (error !== undefined && !isOpen && error.reason !== 'tls') throw error;
  const through = proxy === null ? '' : ` through ${proxy.host}`;
  const duration = connectMs === undefined ? '' : `, after ${connectMs} ms`;
  return { detail: `${url.host}${through}${duration}` };
}

const dayMs = 86_400_000;
/** Warn if a certificate expires in fewer days. */
const renewalDays = 14;

/** The connection is encrypted, and the certificate of the service is valid. */
async function checkTls(known: Known): Promise<Finding> {
  const { tls, error } = need(known, 'request');
  if (need(known, 'url').protocol === 'http:') {
    return { detail: 'none: the base URL is http', skipped: true };
  }
  if (tls === undefined || error?.reason === 'tls') {
    const { code } = (error?.cause ?? {}) as { readonly code?: unknown };
    const advice = certificateAdvice.find(([codes]) => codes.test(String(code)));
    if (error === undefined || advice === undefined) throw error;
    throw new ExplainedError(error, { hint: advice[1] });
  }
  const { version, certificate } = tls;
  const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / dayMs);
  const detail = `${version}, certificate of ${nameOf(certificate.subject)} by ${nameOf(certificate.issuer)}, ${days} days left`;
  return { detail, ...(days < renewalDays && { next: 'Ask the operator to renew the certificate.' }) };
}

function nameOf({ CN, O }: PeerCertificate['subject']): string {
  return [CN ?? O ?? 'nobody'].flat().join(', ');
}

const certificateAdvice: readonly (readonly [code: RegExp, hint: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO/,
    'Its certificate authority is not trusted: pass the certificate of that authority with --ca-file.',
  ],
  [/EXPIRED|NOT_YET_VALID/, 'Ask the operator to renew it, and check the clock of this machine.'],
  [/ALTNAME/, 'It is the certificate of another host: check the base URL.'],
];

/** The service answers with an envelope. */
async function checkAnswer(known: Known): Promise<Finding> {
  const { answer, tookMs } = answered(known);
  const { code, msg } = answer.envelope;
  return { detail: `HTTP ${answer.httpStatus}, code ${code} ${quoteName(msg)}, after ${tookMs} ms` };
}

/** @throws NoAnswerError if no answer came */
function answered(known: Known): Answered {
  const request = need(known, 'request');
  if (request.answered === undefined) throw request.error;
  return request.answered;
}

function isOnTime({ aheadBy }: Answered): boolean {
  return aheadBy !== null && Math.abs(aheadBy) <= defaultClockWindowSeconds;
}

/** The clocks differ by no more than a service usually allows. */
async function checkClock(known: Known): Promise<Finding> {
  const found = answered(known);
  const { aheadBy } = found;
  if (aheadBy === null) return { detail: 'the answer has no Date header', skipped: true };
  const seconds = Math.abs(aheadBy);
  // Whole seconds of the header, and half of the time that the answer took: one second may be none.
  const detail =
    seconds <= 1 ? 'same as the service' : `${seconds} s ${aheadBy > 0 ? 'behind' : 'ahead of'} the service`;
  if (isOnTime(found)) return { detail };
  throw new CheckFailedError(detail, {
    hint: `Set the clock of this machine: timestamps further off than ${defaultClockWindowSeconds} s are usually refused.`,
  });
}

/** Evaluates the answer to a code that was never issued: any other error is about the rest of the request. */
async function checkAcceptance(known: Known): Promise<Finding> {
  const found = answered(known);
  const { refused } = found;
  if (refused === null) return { detail: 'everything, the code too' };
  if (refused.means === 'codeNotValid') {
    return { detail: 'app key, app_sign, sign, tenant and channel: only the code was refused, as expected' };
  }
  if (refused.means === 'timestampOutsideWindow' && isOnTime(found)) {
    throw new CheckFailedError(refused.message, {
      hint: 'The Date header agrees with the clock of this machine: tell the operator that the service has another time.',
    });
  }
  if (refused.entry !== undefined) throw explainFailure(refused, need(known, 'settings'), 'doctor');
  const code = refused.resultCode;
  return {
    detail: `not known: the code ${code} is the platform's own`,
    next: `Ask the operator what ${code} means, and name it under result_codes of the platform file.`,
    skipped: true,
  };
}
