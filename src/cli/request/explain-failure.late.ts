import { isDeepStrictEqual } from 'node:util';
import { NoAnswerError, type RejectedError } from '../../client/call/errors.js';
import { endpointNamed, hasCode, type OperationName } from '../../core/contract/endpoints.js';
import { quoteName } from '../../core/contract/errors.js';
import { defaultClockWindowSeconds, signLength } from '../../core/contract/limits.js';
import { describeOrigin, settingNames } from '../../core/profiles/flags-and-environment.js';
import { describeSecretSource, settingSecretAgain } from '../../core/profiles/secret-source.js';
import type { Settings } from '../../core/profiles/settings.js';
import { compileRecipe } from '../../core/signing/compile-recipe.js';
import { defaultRecipes } from '../../core/signing/presets.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import { ExplainedError } from '../errors.js';

/** The command that failed. */
type Failed = OperationName | 'doctor';

/** What `sign explain` shows such a request with. */
const explained: Record<OperationName, string> = {
  read: 'read c1',
  passback: 'passback a=b --union-id u1',
};

type RefusalAdvice = { readonly hint?: string; readonly commands?: readonly string[] };

/** The origin of the secret and of the rule, and the commands that find the fault. */
function refusedSignature(
  { means }: RejectedError,
  settings: Settings,
  operation: Failed,
): RefusalAdvice {
  const { profile, secret } = settings;
  const commands = signatureCommands(settings, operation);
  const signedBy = `Signed with ${describeSecretOrigin(settings)}, by ${describeRuleOrigin(settings)}.`;
  const steps = 'To see what is signed, find the rule, and check every setting:';
  if (means === 'wrongSign') {
    const cause =
      'Not app_sign but sign was refused, ' +
      'so the rule of sign is likelier to be wrong than the secret.';
    return { hint: `${signedBy}\n${cause} ${steps}`, commands };
  }
  const again = settingSecretAgain(profile, secret.source);
  const how = again.commands.length > 0 ? 'Enter it again, by the first command.' : again.hint;
  return {
    hint: `${signedBy}\nA wrong secret is the likeliest cause. ${how} ${steps}`,
    commands: [...again.commands, ...commands],
  };
}

/** The commands that show what is signed, find the rule, and check every setting. */
function signatureCommands({ profile, environment }: Settings, operation: Failed): string[] {
  const flag = (name: string) => (profile === null ? '' : ` ${name} ${quoteWhereNeeded(profile)}`);
  const profileFlag = flag('-p');
  const example = explained[operation === 'doctor' ? 'read' : operation];
  const commands = [
    `userinfo sign explain ${example}${profileFlag}`,
    `userinfo sign solve -${flag('--save')}${profileFlag}`,
  ];
  if (environment.value !== 'production')
    commands.push(`userinfo sign try${flag('--save')}${profileFlag}`);
  if (operation !== 'doctor') commands.push(`userinfo doctor${profileFlag}`);
  return commands;
}

/** What to check where the HTTP status says that nothing is at the address; otherwise `null`. */
export function adviceOfAddress(httpStatus: number): string | null {
  if (httpStatus !== 404) return null;
  return 'Check the base URL first: its path may lack a part, such as /gw.';
}

/** A code that the table does not have: in a test deployment a probe finds out what it means. */
function unknownCode(
  { resultCode, httpStatus }: RejectedError,
  { profile, environment }: Settings,
  operation: Failed,
): RefusalAdvice {
  if (environment.value === 'production' || profile === null) return {};
  const sentences = [`The table of the profile does not have the code ${resultCode}.`];
  const aboutAddress = adviceOfAddress(httpStatus);
  if (aboutAddress !== null) sentences.push(aboutAddress);
  if (operation !== 'doctor' && hasCode(endpointNamed[operation]))
    sentences.push(
      'If "userinfo doctor" gets the same answer, the code of the user may be expired or used.',
    );
  sentences.push("To learn what the platform's codes mean, with a code of a test user:");
  return {
    hint: sentences.join(' '),
    commands: [`userinfo probe -p ${quoteWhereNeeded(profile)} --code "$code" --save-profile`],
  };
}

/**
 * Whether a refusal is about the length of `sign` (§5.4): a rule that is wrong may give another
 * one.
 */
function refusesSignLength(
  { means }: RejectedError,
  { signing_module, platform }: Settings,
): boolean {
  if (means !== 'malformedParameter' || signing_module !== null) return false;
  const { digestLength } = compileRecipe(platform.value.signing.sign);
  return digestLength !== null && digestLength !== signLength;
}

/** The error of a call, with where the settings come from that may be wrong. */
export function explainFailure(
  error: RejectedError | NoAnswerError,
  settings: Settings,
  operation: Failed,
  message?: string,
): ExplainedError {
  const advice = adviceOn(error, settings, operation);
  return new ExplainedError(error, withoutUndefined({ ...advice, message }));
}

function adviceOn(
  error: RejectedError | NoAnswerError,
  settings: Settings,
  operation: Failed,
): RefusalAdvice {
  if (error instanceof NoAnswerError) return aboutBaseUrl(error, settings);
  return aboutRefusal(error, settings, operation);
}

/** What to do about a certificate, by the codes of OpenSSL and Node. */
const certificateFaults: readonly { readonly codes: RegExp; readonly hint: string }[] = [
  {
    codes: /SELF_SIGNED|UNABLE_TO/,
    hint:
      'Its certificate authority is not trusted: ' +
      'pass the certificate of that authority with --ca-file.',
  },
  {
    codes: /EXPIRED|NOT_YET_VALID/,
    hint: 'Ask the operator to renew it, and check the clock of this machine.',
  },
  { codes: /ALTNAME/, hint: 'It is the certificate of another host: check the base URL.' },
];

/** What to do about the certificate that a connection failed of; `undefined` for another fault. */
export function adviceOfCertificate({ cause }: NoAnswerError): string | undefined {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return certificateFaults.find(({ codes }) => codes.test(String(code)))?.hint;
}

/** Where a base URL that may be wrong comes from; the message names its host alone. */
function aboutBaseUrl(error: NoAnswerError, { base_url: { origin } }: Settings): RefusalAdvice {
  const { reason, hint } = error;
  if (['proxy', 'reset', 'wrong-data'].includes(reason)) return {};
  const source = `The ${settingNames.base_url.title} comes from ${describeOrigin(origin)}.`;
  return { hint: joinHints(adviceOfCertificate(error) ?? hint, source) };
}

/** What the command line knows of a refusal. That it may have been carried out is said first. */
function aboutRefusal(error: RejectedError, settings: Settings, operation: Failed): RefusalAdvice {
  const advice = ofSettings(error, settings, operation);
  if (error.doubt === undefined || advice.hint === undefined) return advice;
  return { ...advice, hint: `${error.doubt} ${advice.hint}` };
}

/** The settings that a refusal is about; nothing if it is about none. */
function ofSettings(error: RejectedError, settings: Settings, operation: Failed): RefusalAdvice {
  const { means } = error;
  const isRule =
    means === 'wrongAppSign' || means === 'wrongSign' || refusesSignLength(error, settings);
  if (isRule) return refusedSignature(error, settings, operation);
  if (error.entry === undefined) return unknownCode(error, settings, operation);
  if (means === 'timestampOutsideWindow') return clockAdvice(error);
  if (means !== 'appNotAllowed' && means !== 'unknownAppKey') return {};
  const sent = (['tenant_code', 'channel', 'app_key'] as const).map((name) => {
    const { value, origin } = settings[name];
    return `${settingNames[name].title} ${quoteName(value)} (${describeOrigin(origin)})`;
  });
  return { hint: joinHints(error.entry.hint, `Sent: ${sent.join(', ')}.`) };
}

function joinHints(hint: string | undefined, more: string): string {
  return hint === undefined ? more : `${hint} ${more}`;
}

/**
 * How far the clock of this machine is from that of the service, by the Date header of its answer.
 */
function clockAdvice({ answer: { date } }: RejectedError): { readonly hint?: string } {
  const seconds = Math.round((Date.parse(date ?? '') - Date.now()) / 1000);
  if (Number.isNaN(seconds)) return {};
  if (Math.abs(seconds) <= defaultClockWindowSeconds)
    return {
      hint: 'The Date header agrees with the clock of this machine: tell the operator that the service has another time.',
    };
  const distance = seconds > 0 ? `${seconds} s behind` : `${-seconds} s ahead of`;
  return { hint: `The clock of this machine is ${distance} that of the service: set it.` };
}

/** The secret by which it was signed, and where it comes from. */
function describeSecretOrigin({ profile, secret }: Settings): string {
  const { origin, source } = secret;
  if (origin.kind === 'profile') {
    const ofProfile = `the secret of profile ${quoteName(origin.name)}`;
    return source.kind === 'file' ? ofProfile : `${ofProfile} (${describeSecretSource(source)})`;
  }
  const ofVariable = `the secret in ${describeOrigin(origin)}`;
  return profile === null ? ofVariable : `${ofVariable}, not that of profile ${quoteName(profile)}`;
}

/** The origin of the rule of the signatures. */
export function describeRuleOrigin({
  platform: { value, origin },
  profile,
  signing_module,
}: Pick<Settings, 'platform' | 'profile' | 'signing_module'>): string {
  if (signing_module !== null) return `the module of profile ${quoteName(profile ?? '')}`;
  if (isDeepStrictEqual(value.signing, defaultRecipes)) return 'the default recipes';
  return `the recipes of ${describeOrigin(origin)}`;
}
