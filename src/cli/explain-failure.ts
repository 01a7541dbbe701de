// Apart from call-service.ts: only a call that failed loads it.
import { isDeepStrictEqual } from 'node:util';
import { NoAnswerError, type RejectedError } from '../client/errors.js';
import { defaultSigning, usesModule } from '../platform/signing-source.js';
import { describeOrigin, settingNames } from '../profiles/flags-and-environment.js';
import { describeSecretSource } from '../profiles/secret.js';
import type { Settings } from '../profiles/settings.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { ExplainedError, type UsedSetting } from './report-error.js';

/** The command that failed. */
type Failed = 'read' | 'passback' | 'doctor';

/** Where the secret and the rule came from, and the commands that find the fault. */
function refusedSignature(settings: Settings, operation: Failed) {
  const { profile } = settings;
  const flag = (name: string) => (profile === null ? '' : ` ${name} ${quoteWhereNeeded(profile)}`);
  const profileFlag = flag('-p');
  const example = operation === 'passback' ? 'passback name=x --union-id u001' : 'read c1';
  const commands = [
    `userinfo sign explain ${example}${profileFlag}`,
    `userinfo sign solve -${flag('--save')}${profileFlag}`,
    `userinfo doctor${profileFlag}`,
  ].slice(0, operation === 'doctor' ? 2 : 3);
  const rest = operation === 'doctor' ? ' or' : ',';
  const last = operation === 'doctor' ? '' : ', or check every setting';
  const purposes = `See what is signed${rest} find the rule of a request that was accepted${last}:`;
  const hint = `Signed with ${describeSecret(settings)}, by ${describeRule(settings)}.\n${purposes}`;
  return { hint, commands };
}

/** The error of a call, with where the settings come from that may be wrong. */
export function explainFailure(
  error: RejectedError | NoAnswerError,
  settings: Settings,
  operation: Failed,
  message?: string,
): ExplainedError {
  return new ExplainedError(error, {
    ...(message !== undefined && { message }),
    ...(error instanceof NoAnswerError
      ? aboutBaseUrl(error, settings)
      : aboutRefusal(error, settings, operation)),
  });
}

function aboutBaseUrl({ reason }: NoAnswerError, settings: Settings) {
  return ['proxy', 'reset', 'wrong-data'].includes(reason)
    ? {}
    : { settings: [used('base_url', settings, false)] };
}

function aboutRefusal({ means, msg }: RejectedError, settings: Settings, operation: Failed) {
  // §5.4: a rule that is wrong also gives a sign of another length.
  const isWrongLength = means === 'malformedParameter' && msg.startsWith('sign ');
  if (means === 'wrongAppSign' || means === 'wrongSign' || isWrongLength)
    return refusedSignature(settings, operation);
  if (means !== 'appNotAllowed' && means !== 'unknownAppKey') return {};
  return {
    settings: (['tenant_code', 'channel', 'app_key'] as const).map((name) => used(name, settings, true)),
  };
}

function used(
  name: 'base_url' | 'tenant_code' | 'channel' | 'app_key',
  settings: Settings,
  isShown: boolean,
): UsedSetting {
  const { value, origin } = settings[name];
  return { title: settingNames[name].title, value: isShown ? value : null, origin: describeOrigin(origin) };
}

function describeSecret({ profile, secret }: Settings): string {
  const { origin, source } = secret;
  if (origin.kind !== 'profile') {
    const other = profile === null ? '' : `, not that of profile ${quoteName(profile)}`;
    return `the secret in ${describeOrigin(origin)}${other}`;
  }
  const where = source.kind === 'file' ? '' : ` (${describeSecretSource(source)})`;
  return `the secret of profile ${quoteName(origin.name)}${where}`;
}

/** Where the rule of the signatures comes from. */
export function describeRule({ platform: { value, origin } }: Pick<Settings, 'platform'>): string {
  const { signing } = value;
  if (isDeepStrictEqual(signing, defaultSigning)) return 'the default recipes';
  return `the ${usesModule(signing) ? 'module' : 'recipes'} of ${describeOrigin(origin)}`;
}
