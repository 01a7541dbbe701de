import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { statSync } from 'node:fs';
import type { Answer } from '../../../client/call/answer.js';
import type { CallClient } from '../../../client/call/call-client.js';
import { NoAnswerError, RejectedError } from '../../../client/call/errors.js';
import { type HttpProxy, parseProxy } from '../../../client/call/proxy.js';
import { buildRead } from '../../../client/call/request.js';
import { secretDoubts } from '../../../core/contract/doubts.js';
import {
  endpointNamed,
  endpoints,
  hasCode,
  type OperationName,
} from '../../../core/contract/endpoints.js';
import { quoteName } from '../../../core/contract/errors.js';
import { defaultClockWindowSeconds, signLength } from '../../../core/contract/limits.js';
import { maskWords } from '../../../core/contract/masking.js';
import { ProfileFileError } from '../../../core/profiles/errors.js';
import { describeOrigin } from '../../../core/profiles/flags-and-environment.js';
import type { ProfileList } from '../../../core/profiles/profile-json.js';
import { type ProfileStore, selecting } from '../../../core/profiles/profile-store.js';
import { describeSecretSource, settingSecretAgain } from '../../../core/profiles/secret-source.js';
import { resolveSettings, type Settings } from '../../../core/profiles/settings.js';
import type { Secret } from '../../../core/signing/secret.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { findUnsafePath } from '../../../core/support/trusted-path.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { sendOnce } from '../../../lab/reply.js';
import { checkingReach, maxSettling, type Settlement, settle } from '../../../lab/settle/settle.js';
import type { CliContext, Invocation } from '../../command.js';
import type { ConnectionOptions } from '../../command-line/options.js';
import { CheckFailedError, ExplainedError } from '../../errors.js';
import {
  askingQuestion,
  askPlatform,
  connectToAsk,
  productionReach,
  reportOperation,
} from '../../request/ask-platform.late.js';
import {
  announceProduction,
  connectTo,
  loadSigning,
  settingSources,
} from '../../request/deployment.js';
import {
  adviceOfAddress,
  adviceOfCertificate,
  describeRuleOrigin,
  explainFailure,
} from '../../request/explain-failure.late.js';
import { networkOptions, proxyOf } from '../../request/network.js';

/** A check, by its name in JSON. */
export type CheckName =
  | 'profile_file'
  | 'settings'
  | 'base_url'
  | 'app_secret'
  | 'proxy'
  | 'signing'
  | 'connection'
  | 'tls'
  | 'answer'
  | 'clock'
  | OperationName;

/** The result of a check that did not fail. */
interface CheckResult {
  /** The result in one line. */
  readonly detail: string;
  /** Advice, in sentences. */
  readonly next?: string;
  /** The commands that the advice is about. */
  readonly commands?: readonly string[];
  /** Whether there was nothing to check. */
  readonly skipped?: boolean;
}

interface NamedResult extends CheckResult {
  readonly check: CheckName;
}

/**
 * Checks what a request needs, in its order, and yields the result of each.
 *
 * @throws UserInfoError for the check that fails; CancelledError
 */
export async function* checkResults(
  { context, options }: Invocation<ConnectionOptions>,
  seenBefore?: Settlement,
): AsyncGenerator<NamedResult> {
  const { profiles } = context;
  const list = await profiles.load();
  yield { check: 'profile_file', ...checkProfileFile(profiles, list) };
  const store = { load: async () => list, refuseUnsafeFile: () => profiles.refuseUnsafeFile() };
  const settings = await resolveSettings({ ...settingSources(context, options), store });
  await announceProduction(context.io, settings);
  yield { check: 'settings', ...describeSettings(settings) };
  yield { check: 'base_url', ...describeBaseUrl(settings) };
  const secret = await settings.secret.read();
  yield { check: 'app_secret', ...describeAppSecret(secret, settings) };
  const { proxy, result } = await checkProxy(settings, context);
  yield { check: 'proxy', ...result };
  const once = { ...options, attempts: 1 };
  const client = await connectTo(context, settings, once, { secret });
  try {
    const { url } = client.sign(buildRead({ code: 'self-test' }));
    yield { check: 'signing', ...checkSigning(settings, url) };
    const request = await sendRead(client, context.signal);
    yield { check: 'connection', ...checkConnection(request, settings, proxy) };
    yield { check: 'tls', ...checkTls(request, settings) };
    if (request.answer === undefined) throw request.error;
    yield { check: 'answer', ...describeAnswer(request.answer, request) };
    yield { check: 'clock', ...checkClock(request.answer, request) };
    refuseKnownFault(request, settings);
    const seen = seenBefore ?? (await askSignatures(context, settings, options, secret));
    for (const { operation } of endpoints) {
      yield { check: operation, ...checkOperation(operation, settings, request, seen) };
    }
  } finally {
    await client.close();
  }
}

/** The profile file is readable, and private to its owner. */
function checkProfileFile(store: ProfileStore, list: ProfileList): CheckResult {
  const { path } = store;
  const { active, profiles: all } = list;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return { detail: `there is none: ${path}`, skipped: true };
  const unsafe = findUnsafePath(path);
  const mode = store.sharedMode();
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
  const activeName = active === null ? 'none' : quoteName(active);
  const detail = `${path}: ${count}, ${activeName} active`;
  if (active === null || all.has(active)) return { detail };
  return {
    detail,
    next: 'Warning: the active profile does not exist. Choose another:',
    ...selecting(list),
  };
}

/** All values that a request needs are set. */
function describeSettings(settings: Settings): CheckResult {
  const { environment, tenant_code, channel, app_key, profile, warnings } = settings;
  const values = `tenant ${tenant_code.value}, channel ${channel.value}, app key ${app_key.value}`;
  const from = profile === null ? 'flags and environment variables' : `profile "${profile}"`;
  return { detail: `${environment.value}, ${values} (${from})`, ...adviceOf(warnings) };
}

function adviceOf(warnings: readonly string[]): Pick<CheckResult, 'next'> {
  if (warnings.length === 0) return {};
  return { next: `Warning: ${warnings.join('; ')}.` };
}

/** Requests may be sent to the base URL. */
function describeBaseUrl(settings: Settings): CheckResult {
  const { url } = settings.address();
  const { base_url, allow_http, profile } = settings;
  const detail = `${base_url.value} (${describeOrigin(base_url.origin)})`;
  if (allow_http === null) return { detail };
  const allowed = `Warning: plain http is allowed (${describeOrigin(allow_http.origin)})`;
  const warning =
    url.protocol === 'http:'
      ? `${allowed}: personal data is sent unencrypted to ${url.host}.`
      : `${allowed}, and not needed.`;
  if (profile === null || allow_http.origin.kind !== 'profile') return { detail, next: warning };
  const commands = [`userinfo profile set ${profile} --no-allow-http`];
  return { detail, next: `${warning} To disallow it:`, commands };
}

/** The app secret can be read. */
function describeAppSecret(
  value: Secret,
  { profile, app_key, secret: { source } }: Settings,
): CheckResult {
  const detail = `found in ${describeSecretSource(source)}`;
  const { next } = adviceOf(secretDoubts(value, app_key.value));
  if (next === undefined) return { detail };
  const { hint, commands } = settingSecretAgain(profile, source);
  return { detail, next: `${next} ${hint}`, commands };
}

/** The proxy of the connection, and the certificate authorities to trust. */
async function checkProxy(
  settings: Settings,
  { io }: CliContext,
): Promise<{ readonly proxy: HttpProxy | null; readonly result: CheckResult }> {
  // Reads the certificate files: one that cannot be read fails here.
  await networkOptions(settings, io.env);
  const none = { proxy: null, result: { detail: 'none for this host', skipped: true } };
  if (settings.address().isLoopback) return none;
  const named = proxyOf(settings, io.env);
  if (named === null) return none;
  const proxy = parseProxy(named.address, named.name);
  return { proxy, result: { detail: `${proxy.host} (${named.name})` } };
}

/** A request can be signed: `signed` is the URL of one. */
function checkSigning(settings: Settings, { searchParams }: URL): CheckResult {
  const lengthOf = (name: string) => searchParams.get(name)?.length ?? 0;
  const lengths = `app_sign has ${lengthOf('app_sign')} characters, sign ${lengthOf('sign')}`;
  const detail = `by ${describeRuleOrigin(settings)}: ${lengths}`;
  if (lengthOf('sign') === signLength) return { detail };
  return {
    detail,
    next: `The platform's document requires a sign of ${signLength} characters: check the recipe.`,
  };
}

/** A connection can be opened. */
function checkConnection(
  { error, connectMs }: SentRequest,
  { base_url }: Settings,
  proxy: HttpProxy | null,
): CheckResult {
  const isOpen = connectMs !== undefined && error?.reason !== 'proxy';
  if (error !== undefined && !isOpen && error.reason !== 'tls') throw error;
  let detail = new URL(base_url.value).host;
  if (proxy !== null) detail += ` through ${proxy.host}`;
  if (connectMs !== undefined) detail += `, after ${connectMs} ms`;
  return { detail };
}

/** The connection is encrypted, and the certificate of the service is valid. */
function checkTls({ error }: SentRequest, { base_url }: Settings): CheckResult {
  if (new URL(base_url.value).protocol === 'http:') {
    return { detail: 'none: the base URL is http', skipped: true };
  }
  if (error?.reason !== 'tls') return { detail: 'encrypted, with a valid certificate' };
  const hint = adviceOfCertificate(error);
  if (hint === undefined) throw error;
  throw new ExplainedError(error, { hint });
}

/** The service answers with an envelope. */
function describeAnswer(
  { httpStatus, envelope }: Answer,
  { sentAt, receivedAt, refused }: SentRequest,
): CheckResult {
  const { code, msg } = envelope;
  const duration = `after ${receivedAt - sentAt} ms`;
  const detail = `HTTP ${httpStatus}, code ${code} ${quoteName(maskWords(msg))}, ${duration}`;
  const isUnknownCode = refused !== undefined && refused.entry === undefined;
  const next = isUnknownCode ? adviceOfAddress(httpStatus) : null;
  return next === null ? { detail } : { detail, next };
}

/** The clocks differ by no more than a service usually allows. */
function checkClock({ date }: Answer, { sentAt, receivedAt }: SentRequest): CheckResult {
  // A `Date` header has whole seconds: half a second is missing on average.
  const theirs = Date.parse(date ?? '') + 500;
  const aheadBy = Math.round((theirs - (sentAt + receivedAt) / 2) / 1000);
  if (Number.isNaN(aheadBy)) return { detail: 'the answer has no Date header', skipped: true };
  const detail = describeClock(aheadBy);
  if (Math.abs(aheadBy) <= defaultClockWindowSeconds) return { detail };
  throw new CheckFailedError(detail, {
    hint: `Set the clock of this machine: timestamps further off than ${defaultClockWindowSeconds} s are usually refused.`,
  });
}

/** `aheadBy`: how many seconds the clock of the service is ahead of ours. */
function describeClock(aheadBy: number): string {
  // Whole seconds of the header, and half of the time that the answer took: one second may be none.
  if (Math.abs(aheadBy) <= 1) return 'same as the service';
  return aheadBy > 0 ? `${aheadBy} s behind the service` : `${-aheadBy} s ahead of the service`;
}

/**
 * The answer to a code that was never issued: an error other than that of the code is about the
 * rest of the request.
 */
function refuseKnownFault({ refused }: SentRequest, settings: Settings): void {
  if (refused?.entry === undefined || refused.means === 'codeNotValid') return;
  throw explainFailure(refused, settings, 'doctor');
}

/** What the platform shows of the signatures of each operation; `null` if it is not asked. */
async function askSignatures(
  context: CliContext,
  settings: Settings,
  options: Invocation<ConnectionOptions>['options'],
  secret: Secret,
): Promise<Settlement | null> {
  const { prompt } = context;
  const isProduction = settings.environment.value === 'production';
  const reach = isProduction ? productionReach : checkingReach;
  const question = askingQuestion(settings, maxSettling);
  if (!options.yes && !(prompt.possible && (await prompt.confirm(question)))) return null;
  const { signers, recipes } = await loadSigning(context, settings);
  const candidates = {
    app_sign: [{ signer: signers.app_sign, recipe: recipes.app_sign, weight: 1 }],
    sign: [{ signer: signers.sign, recipe: recipes.sign, weight: 1 }],
  };
  const client = await connectToAsk(context, settings, options, secret);
  try {
    return await askPlatform(context, client, { maxRequests: maxSettling }, (asker) =>
      settle(asker, client, candidates, secret, reach),
    );
  } finally {
    await client.close();
  }
}

/** The signatures of an operation are accepted. `seen` is `null` if the platform was not asked. */
function checkOperation(
  operation: OperationName,
  settings: Settings,
  request: SentRequest,
  seen: Settlement | null,
): CheckResult {
  if (seen !== null) return resultOf(operation, settings, seen);
  // The one request that was sent has a code that was never issued.
  return hasCode(endpointNamed[operation]) ? checkOneRead(request, settings) : notAsked;
}

/**
 * The signatures of an operation are accepted: seen by an answer that wrong ones do not get.
 *
 * @throws CheckFailedError if a signature was refused
 */
function resultOf(operation: OperationName, { profile }: Settings, seen: Settlement): CheckResult {
  const { sight, detail, next } = reportOperation(operation, seen);
  if (sight !== 'refused') return withoutUndefined({ detail, next, skipped: sight === 'unseen' });
  const name = quoteWhereNeeded(profile ?? 'PROFILE');
  const command = `userinfo sign try -p ${name}`;
  throw new CheckFailedError(detail, {
    hint: 'The rule is not that of the platform. To find it:',
    commands: [profile === null ? command : `${command} --save ${name}`],
  });
}

/**
 * What one read shows, without its control: something only where the codes of the platform are
 * known.
 */
function checkOneRead({ refused }: SentRequest, settings: Settings): CheckResult {
  if (refused === undefined)
    return { detail: 'a code that was never issued is accepted', skipped: true };
  const { means, resultCode: code } = refused;
  if (means === 'codeNotValid')
    return {
      detail: 'only the code was refused, as expected; wrong signatures were not tried',
    };
  return {
    detail: `not known: the code ${code} is the platform's own`,
    ...learningCodes(settings),
    skipped: true,
  };
}

/** An operation of which nothing was asked. */
const notAsked: CheckResult = {
  detail: 'not asked',
  next: 'To ask the platform: add --yes.',
  skipped: true,
};

/** How to learn what an unknown code means. A probe may be sent to a test deployment alone. */
function learningCodes({ environment, profile }: Settings): Pick<CheckResult, 'next' | 'commands'> {
  if (environment.value === 'production' || profile === null)
    return {
      next: 'Ask the operator what it means, and name it under result_codes of the platform file.',
    };
  return {
    next: "To learn what the platform's codes mean, with a code of a test user:",
    commands: [`userinfo probe -p ${quoteWhereNeeded(profile)} --code "$code" --save-profile`],
  };
}

/** The one request of the doctor: what is known of its connection, and its answer or its error. */
interface SentRequest {
  /** Unix time in milliseconds. */
  readonly sentAt: number;
  /** Unix time in milliseconds. */
  readonly receivedAt: number;
  /** The time that opening the connection took; `undefined` if none was opened. */
  readonly connectMs: number | undefined;
  readonly error?: NoAnswerError;
  readonly refused?: RejectedError;
  readonly answer?: Answer;
}

/**
 * Reads with a code that was never issued: nothing is written, and no code is consumed. undici
 * reports the connection; through a proxy, first that to the proxy.
 *
 * @throws CancelledError
 */
async function sendRead(client: CallClient, signal: AbortSignal): Promise<SentRequest> {
  const request = buildRead({ code: `userinfo-doctor-${randomUUID()}` });
  const sentAt = Date.now();
  let connectMs: number | undefined;
  const onConnected = () => {
    connectMs = Date.now() - sentAt;
  };
  subscribe('undici:client:connected', onConnected);
  try {
    const outcome = await sendOnce(client, request, signal);
    const sent = { sentAt, receivedAt: Date.now(), connectMs };
    if (outcome instanceof NoAnswerError) return { ...sent, error: outcome };
    if (outcome instanceof RejectedError)
      return { ...sent, refused: outcome, answer: outcome.answer };
    return { ...sent, answer: outcome };
  } finally {
    unsubscribe('undici:client:connected', onConnected);
  }
}
