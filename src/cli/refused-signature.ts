// Apart from call-service.ts: only a refused signature loads it.
import { RejectedError } from '../client/errors.js';
import { describeOrigin } from '../profiles/flags-and-environment.js';
import { describeSecretSource } from '../profiles/secret.js';
import type { Settings } from '../profiles/settings.js';
import { usesModule } from '../profiles/signing-source.js';
import { quoteName } from '../protocol/text.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { CheckFailedError } from './report-error.js';

type Inputs = Pick<Settings, 'profile' | 'secret' | 'signing'>;

/** The command that was refused. */
type Refused = 'read' | 'passback' | 'doctor';

/** Where the secret and the rule came from, and the commands that find the fault; two lines where it is an error. */
function refusedSignatureHint(settings: Inputs, operation: Refused): string {
  const { profile } = settings;
  const name = profile === null ? '' : quoteWhereNeeded(profile);
  const of = profile === null ? '' : ` -p ${name}`;
  const save = profile === null ? '' : ` --save ${name}`;
  const example = operation === 'passback' ? 'passback name=x --union-id ID' : 'read CODE';
  const inputs = `Signed with ${describeSecret(settings)}, by ${describeRule(settings)}.`;
  const commands = [
    `What is signed: "userinfo sign explain ${example}${of}".`,
    `The rule of an accepted request: "userinfo sign solve -${save}${of}".`,
  ];
  if (operation === 'doctor') return [inputs, ...commands].join('\n');
  return `${inputs}\n${commands.join(' ')} Every setting: "userinfo doctor${of}".`;
}

/** The same error with that hint, where it is a refused signature (§5.5, §5.6); any other error as it is. */
export function explainRefusal<T>(error: T, settings: Inputs, operation: Refused): T | CheckFailedError {
  if (!(error instanceof RejectedError)) return error;
  if (error.means !== 'wrongAppSign' && error.means !== 'wrongSign') return error;
  const hint = refusedSignatureHint(settings, operation);
  return new CheckFailedError(error.message, { hint, cause: error }, error.code);
}

function describeSecret({ profile, secret }: Inputs): string {
  const { origin, source } = secret;
  if (origin.kind !== 'profile') {
    const other = profile === null ? '' : `, not that of profile ${quoteName(profile)}`;
    return `the secret in ${describeOrigin(origin)}${other}`;
  }
  const where = source.kind === 'file' ? '' : ` (${describeSecretSource(source)})`;
  return `the secret of profile ${quoteName(origin.name)}${where}`;
}

function describeRule({ profile, signing }: Inputs): string {
  if (signing === null || profile === null) return 'the default recipes';
  return `the ${usesModule(signing) ? 'module' : 'recipes'} of profile ${quoteName(profile)}`;
}
