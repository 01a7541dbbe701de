import { resolve } from 'node:path';
import type { Command } from 'commander';
import { describeProfile, type ProfilePatch, parseEnvironment } from '../../../profiles/profile.js';
import { updateProfile } from '../../../profiles/profile-store.js';
import { parseBaseUrl, refusePlainHttp } from '../../../protocol/base-url.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { addConnectionOptions, type CommonOptions, type ConnectionOptions, examples } from '../../options.js';
import {
  addSecretOptions,
  addSigningOptions,
  type SecretOptions,
  type SigningOptions,
  secretSourceOf,
  signingSourceOf,
  warnOfPlainText,
} from './edit-options.js';

interface SetOptions extends CommonOptions, ConnectionOptions, SecretOptions, SigningOptions {
  readonly keyPrefix?: string;
}

export function declareProfileSet(profile: Command, context: CliContext): void {
  const command = profile
    .command('set')
    .summary('change values of a profile')
    .description(
      'Change the values that the options give. Empty --ca-file and --key-prefix remove the value.',
    )
    .argument('<name>', 'the profile');
  addSigningOptions(addSecretOptions(addConnectionOptions(command)))
    .option('--no-allow-http', 'disallow plain HTTP to another machine')
    .option('--key-prefix <prefix>', 'prefix that custom keys should have; empty for none')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile set shop-test --base-url https://test2.example.com', 'a new base URL'],
        ['userinfo profile set shop-test --app-secret-env SHOP_SECRET', 'read the secret from a variable'],
      ),
    )
    .action((name: string) => runSet(context, name, command.optsWithGlobals()));
}

async function runSet(context: CliContext, name: string, options: SetOptions): Promise<void> {
  const { io, profiles } = context;
  const before = await profiles.get(name);
  const secret = await secretSourceOf(options, context);
  const signing = await signingSourceOf(context, options, before.signing);
  const patch: ProfilePatch = {
    ...patchOf(options),
    ...(secret !== null && { secret }),
    ...(signing !== undefined && { signing }),
  };
  if (Object.keys(patch).length === 0) {
    throw new InvalidInputError('nothing to change', {
      hint: '"userinfo profile set --help" lists the options.',
    });
  }
  const { profiles: all } = await profiles.change((list) => updateProfile(list, name, patch));
  const profile = all.get(name);
  if (profile !== undefined) await say(io, `changed ${describeProfile(profile)}`);
  if (secret !== null) await warnOfPlainText(context, secret);
}

/**
 * The changes that the options make, except for secret and signing.
 *
 * @throws InvalidInputError for a base URL of plain HTTP without --allow-http
 */
function patchOf(options: SetOptions): ProfilePatch {
  const { environment, baseUrl, tenantCode, channel, appKey, keyPrefix, caFile, allowHttp } = options;
  if (baseUrl !== undefined) refusePlainHttp(parseBaseUrl(baseUrl), allowHttp === true, '--allow-http');
  return {
    ...(environment !== undefined && { environment: parseEnvironment(environment) }),
    // The permission for plain HTTP applied to the previous base URL.
    ...(baseUrl !== undefined && { base_url: baseUrl, allow_http: null }),
    ...(tenantCode !== undefined && { tenant_code: tenantCode }),
    ...(channel !== undefined && { channel }),
    ...(appKey !== undefined && { app_key: appKey }),
    ...(keyPrefix !== undefined && { key_prefix: keyPrefix === '' ? null : keyPrefix }),
    ...(caFile !== undefined && { ca_file: caFile === '' ? null : resolve(caFile) }),
    ...(allowHttp !== undefined && { allow_http: allowHttp || null }),
  };
}
