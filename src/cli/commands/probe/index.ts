import { existsSync, writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { formatPlatform, type Platform } from '../../../platform/platform.js';
import { updateProfile } from '../../../profiles/profile-store.js';
import type { Settings } from '../../../profiles/settings.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { describeSystemError, isSystemError } from '../../../support/errors.js';
import { quoteWhereNeeded } from '../../../support/shell.js';
import { clientOptions, loadSigning, readSecretOf } from '../../call/client-options.js';
import { resolveDeployment } from '../../call/deployment.js';
import { type Call, command } from '../../command.js';
import { parseDuration, parseFilled } from '../../command-line/option-values.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
import { readText } from '../../input.js';
import { printMessage, writeStyled } from '../../io.js';
import { warn } from '../../output/style.js';
import { confirm } from '../../prompt.js';
import type { Evidence, ProbedUser } from './gather.js';

interface ProbeOptions extends ConnectionOptions {
  readonly code?: readonly string[];
  readonly unionId?: string;
  readonly save?: string;
  readonly saveProfile?: true;
  readonly pause: number;
}

export const declareProbe = command({
  name: 'probe',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'learn how a platform does what its document leaves open',
  description:
    'Send requests that a correct platform refuses, each for one fault, and conclude from the answers how it differs: ' +
    'result codes, HTTP status, clock, replay, shapes of data. These are reads whose codes were never issued: nothing ' +
    "is written, and no user's data is read. With a code and the union ID of a test user, it also reads that user, and " +
    'passes one key back. Says what it will send, and asks first for production or a user.',
  examples: [
    ['userinfo probe -p local --yes', 'by refused reads alone'],
    [
      'code=$(userinfo admin code issue --tenant-code acme --union-id u001); ' +
        'userinfo probe -p local --code "$code" --union-id u001 --yes --save learned.json',
      'with a test user, into a file that "userinfo serve --platform" takes',
    ],
  ],
  takes: (command) =>
    addConnectionOptions(
      command
        .option(
          '--code <code>',
          'code that was issued for a test user, repeatable; - for standard input, one on a line',
          collect,
        )
        .option('--union-id <id>', 'test user, to whom a key is passed back', parseFilled('--union-id'))
        .option('--save <file>', 'write a platform file')
        .option('--save-profile', 'store the platform in the profile in use')
        .addOption(
          new Option('--pause <duration>', 'pause before each request')
            .default(250, '250ms')
            .argParser(parseDuration),
        ),
    ),
  run: runProbe,
});

function collect(code: string, codes: readonly string[] = []): string[] {
  return [...codes, parseFilled('--code')(code)];
}

async function runProbe(call: Call<ProbeOptions>): Promise<void> {
  const { context, io, options, style, isTable, print } = call;
  const { save, saveProfile, unionId, pause } = options;
  const { signal } = context;
  if (save !== undefined && existsSync(save)) throw refusal(save, 'it exists');
  const codes = await givenCodes(call);
  const settings = await resolveDeployment(context, options);
  if (saveProfile && settings.profile === null) {
    throw new InvalidInputError('--save-profile: no profile is in use', {
      sent: 'nothing',
      hint: 'Choose one with -p, or use --save FILE.',
    });
  }
  const user = { codes, unionId, key: `${settings.key_prefix ?? ''}userinfo_probe` };
  await announce(call, settings, user);
  const secret = await readSecretOf(context, settings);
  const given = await clientOptions(context, settings, { ...options, attempts: 1 }, secret);
  // What a passback is answered with is looked at, not judged.
  const platform = { ...given.platform, passback_union_id: 'any' as const };
  const client = await context.connect({ ...given, platform });
  const { signers } = await loadSigning(context, settings);
  const { gather, saysTheSame } = await import('./gather.js');
  let sent = 0;
  const onSent = () => {
    sent += 1;
  };
  try {
    const evidence = await gather({ client, signers, secret, signal, pauseMs: pause, onSent }, user);
    const [{ learn }, { findBreaks }, { probeRecord, showFindings }] = await Promise.all([
      import('./learn.js'),
      import('./breaks.js'),
      import('./report.js'),
    ]);
    const learned = learn(evidence);
    const found = { ...settings.platform.value, ...learned.fields };
    const breaks = findBreaks(evidence, found);
    const file = formatPlatform(found);
    if (isTable) await writeStyled(io.stdout, showFindings(learned, breaks, style));
    else await print(probeRecord(learned, breaks, file));
    const isSame = saysTheSame(evidence.last, evidence.unknownCode);
    for (const warning of doubtsOf(evidence, learned.isSigned, isSame)) await warn(io, warning);
    await saveFound(call, settings, found, JSON.stringify(file, null, 2));
  } catch (error) {
    if (signal.aborted) await printMessage(io, `${sent} requests were sent; nothing was saved`);
    throw error;
  } finally {
    await client.close({ force: true });
  }
}

/** Reasons why findings may be wrong. `isSame`: whether the last request was answered as the first. */
function doubtsOf({ unknownCode, aheadBy }: Evidence, isSigned: boolean, isSame: boolean): string[] {
  const { known, code } = unknownCode;
  const isOther = isSigned && known !== undefined && known !== 'codeNotValid';
  return [
    ...(isSigned
      ? []
      : [
          'an unknown code is answered like a wrong signature: the recipes or the secret may be wrong. ' +
            'Mend that first ("userinfo doctor", "userinfo sign solve"), or give a --code',
        ]),
    ...(isOther
      ? [
          `a right request with an unknown code is answered ${code}, which means ${known} to the profile: see "userinfo doctor"`,
        ]
      : []),
    ...(Math.abs(aheadBy) < 30
      ? []
      : [`the clocks differ by ${Math.abs(aheadBy)} s: set that of this machine, and probe again`]),
    ...(isSame
      ? []
      : ['the last request was answered unlike the first: the platform may block whom it refuses often']),
  ];
}

async function givenCodes({ context, options: { code: given = [] } }: Call<ProbeOptions>): Promise<string[]> {
  const codes: string[] = [];
  for (const code of given) {
    const text = code === '-' ? await readText(context, '-') : code;
    codes.push(
      ...text
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    );
  }
  if (given.length === 0 || codes.length > 0) return codes;
  throw new InvalidInputError('--code is empty: is the variable set?', { sent: 'nothing' });
}

/** Says what will be sent, and asks where it concerns production or a user. */
async function announce(
  { context, io, options }: Call<ProbeOptions>,
  { environment, base_url }: Settings,
  { codes, unionId, key }: ProbedUser,
): Promise<void> {
  const { faultyReads } = await import('./requests.js');
  const faults = [
    'a code that was never issued',
    'a random twice',
    ...Object.values(faultyReads).map(({ title }) => title),
  ];
  await printMessage(io, `To ${new URL(base_url.value).host}, one every ${options.pause} ms:`);
  await printMessage(
    io,
    `- reads without a code that was issued, each with one of these: ${faults.join('; ')}; up to 16 timestamps, for the clock window`,
  );
  const reads =
    codes.length === 0
      ? null
      : '- reads of the user of --code, whole and by names, until the code is used up';
  const writes =
    unionId === undefined
      ? null
      : `- a passback of ${key}=1.50 to the user of --union-id, a copy of it, and four passbacks that a correct platform refuses`;
  for (const line of [reads, writes]) if (line !== null) await printMessage(io, line);
  const isProduction = environment.value === 'production';
  if (!isProduction && reads === null && writes === null) return;
  await confirm(context, isProduction ? 'Send this to production?' : 'Send this?', options.yes);
}

async function saveFound(
  { context, io, options: { save, saveProfile } }: Call<ProbeOptions>,
  { profile }: Settings,
  platform: Platform,
  file: string,
): Promise<void> {
  if (save !== undefined) {
    try {
      writeFileSync(save, `${file}\n`, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw refusal(save, describeSystemError(error));
    }
    await printMessage(
      io,
      `saved in ${quoteName(save)}: "userinfo serve --platform ${quoteWhereNeeded(save)}" answers so`,
    );
  }
  if (!saveProfile || profile === null) return;
  await context.profiles.change((list) => updateProfile(list, profile, { platform }));
  await printMessage(io, `saved in profile ${quoteName(profile)}`);
}

function refusal(file: string, why: string): InvalidInputError {
  return new InvalidInputError(`the file ${quoteName(file)} cannot be written: ${why}`, {
    hint: 'Nothing is replaced: choose another name.',
  });
}
