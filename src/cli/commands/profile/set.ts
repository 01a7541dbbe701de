import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type ProfilePatch, parseEnvironment } from '../../../profiles/profile.js';
import type { SecretSource } from '../../../profiles/secret-source.js';
import { parseBaseUrl, refusePlainHttp } from '../../../protocol/base-url.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { Secret } from '../../../signing/secret.js';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { say } from '../../io.js';
import { addConnectionOptions, type CommonOptions, type ConnectionOptions } from '../../options.js';
import { describeProfile } from './describe.js';
import { forgetSecret, withSecretKept } from './keep-secret.js';
import { addSecretOptions, type SecretOptions, secretSourceOf } from './secret-options.js';
import { addSigningOptions, type SigningOptions, signingSourceOf } from './signing-options.js';

interface SetOptions extends CommonOptions, ConnectionOptions, SecretOptions, SigningOptions {
  readonly keyPrefix?: string;
}

export function declareProfileSet(profile: Command, context: CliContext): void {
  const command = profile
    .command('set')
    .summary('change values of a profile')
    .description('Change the values that are given; the others stay.')
    .argument('<name>', 'the profile');
  addSigningOptions(addSecretOptions(addConnectionOptions(command)))
    .option('--key-prefix <prefix>', 'what the keys that you pass back should begin with; empty for none')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile set shop-test --base-url https://test2.example.com', 'another address'],
        ['userinfo profile set shop-test --app-secret-env SHOP_SECRET', 'the secret from the environment'],
      ),
    )
    .action((name: string) => runSet(context, name, command.optsWithGlobals()));
}

async function runSet(context: CliContext, name: string, options: SetOptions): Promise<void> {
  const { io, profiles } = context;
  const before = await profiles.get(name);
  const secret = await newSecretOf(context, options, before.secret);
  const signing = await signingSourceOf(context, options, before.signing);
  const patch: ProfilePatch = {
    ...patchOf(options),
    ...(secret !== null && { secret }),
    ...(signing !== undefined && { signing }),
  };
  if (Object.keys(patch).length === 0) {
    throw new InvalidInputError('nothing to change', {
      hint: 'Give what to change as options: "userinfo profile set --help" lists them.',
    });
  }
  const { profiles: all } = await withSecretKept(context, options, name, patch, (kept) =>
    profiles.update(name, kept),
  );
  if (secret !== null) await forgetSecret(context, before.secret);
  const profile = all.get(name);
  if (profile !== undefined) await say(io, `changed ${describeProfile(profile)}`);
}

/** What the options change but for the secret and the signing. Throws an InvalidInputError for plain http. */
function patchOf(options: SetOptions): ProfilePatch {
  const { environment, baseUrl, tenantCode, channel, appKey, keyPrefix, caFile, allowHttp } = options;
  if (baseUrl !== undefined) refusePlainHttp(parseBaseUrl(baseUrl), allowHttp === true);
  return {
    ...(environment !== undefined && { environment: parseEnvironment(environment) }),
    // Leave to use plain http was given for the base URL that was there.
    ...(baseUrl !== undefined && { base_url: baseUrl, allow_http: null }),
    ...(tenantCode !== undefined && { tenant_code: tenantCode }),
    ...(channel !== undefined && { channel }),
    ...(appKey !== undefined && { app_key: appKey }),
    ...(keyPrefix !== undefined && { key_prefix: keyPrefix === '' ? null : keyPrefix }),
    ...(caFile !== undefined && { ca_file: caFile === '' ? null : resolve(caFile) }),
    ...(allowHttp && { allow_http: true }),
  };
}

/** The secret that is to take the place of `before`; `null`: it stays. A secret of the file can move to the keychain. */
async function newSecretOf(
  context: CliContext,
  options: SetOptions,
  before: SecretSource,
): Promise<SecretSource | null> {
  const given = await secretSourceOf(options, context);
  if (given !== null || !options.appSecretKeychain) return given;
  if (before.kind === 'file') return before;
  if (!context.prompt.possible) {
    throw new InvalidInputError('there is no app secret to put into the keychain', {
      hint: 'Give it with --app-secret-stdin too.',
    });
  }
  return { kind: 'file', value: new Secret(await context.prompt.secret('App secret')) };
}
