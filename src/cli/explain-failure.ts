// Apart from call-service.ts: only a call that failed loads it.
import { isDeepStrictEqual } from 'node:util';
import { NoAnswerError, RejectedError } from '../client/errors.js';
import { defaultSigning, usesModule } from '../platform/signing-source.js';
import { describeOrigin, settingNames } from '../profiles/flags-and-environment.js';
import { describeSecretSource } from '../profiles/secret.js';
import type { Settings } from '../profiles/settings.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { quoteWhereNeeded } from '../support/shell.js';

/** The command that failed. */
type Failed = 'read' | 'passback' | 'doctor';

/** Where the secret and the rule came from, and the commands that find the fault, each in a line of its own. */
function refusedSignatureHint(settings: Settings, operation: Failed): string {
  const { profile, environment } = settings;
  const flag = (name: string) => (profile === null ? '' : ` ${name} ${quoteWhereNeeded(profile)}`);
  const profileFlag = flag('-p');
  const example = operation === 'passback' ? 'passback name=x --union-id ID' : 'read CODE';
  const inputs = `Signed with ${describeSecret(settings)}, by ${describeRule(settings)}.`;
  const commands = [
    ['What is signed:', `sign explain ${example}${profileFlag}`],
    ['The rule of an accepted request:', `sign solve -${flag('--save')}${profileFlag}`],
    ...(environment.value === 'production'
      ? []
      : [['No accepted request, test deployment:', `sign try${flag('--save')}${profileFlag}`] as const]),
    ...(operation === 'doctor' ? [] : [['Every setting:', `doctor${profileFlag}`] as const]),
  ];
  return [inputs, ...commands.flatMap(([purpose, line]) => [purpose, `  userinfo ${line}`])].join('\n');
}

/** Whether the service refuses the length of `sign` (§5.4): a rule that is wrong may give another one. */
export function refusesSignLength({ means, msg }: RejectedError): boolean {
  return means === 'malformedParameter' && msg.startsWith('sign ');
}

/** The same error; its hint says where the settings came from that may be wrong. */
export function explainFailure<T>(error: T, settings: Settings, operation: Failed): T {
  if (error instanceof NoAnswerError) {
    const origin = describeOrigin(settings.base_url.origin);
    const isAboutUrl = !['proxy', 'reset', 'wrong-data'].includes(error.reason);
    const hint = isAboutUrl ? `${error.hint} The base URL comes from ${origin}.` : error.hint;
    return Object.assign(error, { hint });
  }
  if (!(error instanceof RejectedError)) return error;
  const { means } = error;
  if (means === 'wrongAppSign' || means === 'wrongSign' || refusesSignLength(error))
    return Object.assign(error, { hint: refusedSignatureHint(settings, operation) });
  if (means !== 'appNotAllowed' && means !== 'unknownAppKey') return error;
  const sent = (['tenant_code', 'channel', 'app_key'] as const).map((field) => {
    const { value, origin } = settings[field];
    return `${settingNames[field].title} ${quoteName(value)} (${describeOrigin(origin)})`;
  });
  return Object.assign(error, { hint: `${error.hint}\nSent: ${sent.join(', ')}.` });
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
