import { existsSync, writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { parsePlatform } from '../../../core/platform/platform.js';
import { updateProfile } from '../../../core/profiles/profile-store.js';
import type { Settings } from '../../../core/profiles/settings.js';
import { describeSystemError, isSystemError } from '../../../core/support/errors.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import type { ProbedUser } from '../../../lab/behavior/probe-session.js';
import { command, type Invocation } from '../../command.js';
import {
  addConnectionOptions,
  addText,
  type ConnectionOptions,
  parseDuration,
  parseFilled,
} from '../../command-line/options.js';
import { readText } from '../../input.js';
import { printMessage, writeStyled } from '../../io.js';
import { withProgress } from '../../output/progress.js';
import { warn } from '../../output/style.js';
import { confirm } from '../../prompt.js';
import {
  connectTo,
  loadSigning,
  readSecretOf,
  resolveDeployment,
} from '../../request/deployment.js';
import type { ProbeResult } from './report.late.js';

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
  help: () => import('./help.txt?raw'),
  takes: (command) =>
    addConnectionOptions(
      command
        .option(
          '--code <code>',
          'code that was issued for a test user, repeatable; - for standard input, one on a line',
          (code: string, before: readonly string[]) => addText(parseFilled('--code')(code), before),
        )
        .option(
          '--union-id <id>',
          'test user, to whom a key is passed back',
          parseFilled('--union-id'),
        )
        .option('--save <file>', 'write a platform file')
        .option('--save-profile', 'store the platform in the profile in use')
        .addOption(
          new Option('--pause <duration>', 'pause before each request')
            .default(250, '250ms')
            .argParser(parseDuration),
        ),
    ),
  action: runProbe,
});

async function runProbe(invocation: Invocation<ProbeOptions>): Promise<void> {
  const { context, io, options } = invocation;
  const { save, unionId } = options;
  // What can fail does so before a code is used up.
  if (save !== undefined && existsSync(save)) throw refusal(save, 'it exists');
  const codes = await readCodes(invocation);
  const settings = await resolveDeployment(context, options);
  await checkSaveProfile(invocation, settings);
  const user = { codes, unionId, key: `${settings.key_prefix ?? ''}userinfo_probe` };
  const { gather, maxRequestsOf } = await import('../../../lab/behavior/gather.js');
  const { leftBehind } = await import('../../../lab/behavior/left-behind.js');
  const { conclude, describeLeft } = await import('./report.late.js');
  const maxRequests = maxRequestsOf(user);
  await announce(invocation, settings, user, maxRequests);
  const { session, client, sent } = await openSession(invocation, settings, user, maxRequests);
  const progressNow = () => {
    const share = sent() / maxRequests;
    return { doing: 'probing', unit: 'requests', rows: sent(), share, total: maxRequests };
  };
  const left = () => leftBehind(session).map((key) => describeLeft(key, settings.profile));
  try {
    const evidence = await withProgress(io, { quiet: !io.stderr.isTTY }, progressNow, () =>
      gather(session),
    );
    const result = conclude(evidence, settings.platform.value, left());
    // Validates the file before it is saved.
    parsePlatform(JSON.parse(JSON.stringify(result.file)), 'what was found');
    await printResult(invocation, result);
    await saveResult(invocation, settings, result);
  } catch (error) {
    if (context.signal.aborted)
      await printMessage(io, `${sent()} requests were sent; nothing was saved`);
    for (const key of left()) await warn(io, key);
    throw error;
  } finally {
    await client.close({ force: true });
  }
}

/**
 * A profile is in use that can be changed, if `--save-profile` is set.
 *
 * @throws InvalidInputError, ProfileFileError
 */
async function checkSaveProfile(
  { context, options }: Invocation<ProbeOptions>,
  { profile }: Settings,
): Promise<void> {
  if (!options.saveProfile) return;
  if (profile === null) {
    throw new InvalidInputError('--save-profile: no profile is in use', {
      hint: 'Choose one with -p, or use --save FILE.',
    });
  }
  await context.profiles.change((list) => list);
}

/** A session that has sent nothing, its client, and how many requests it has `sent` so far. */
async function openSession(
  { context, options }: Invocation<ProbeOptions>,
  settings: Settings,
  user: ProbedUser,
  maxRequests: number,
) {
  const { ProbeSession } = await import('../../../lab/behavior/probe-session.js');
  const secret = await readSecretOf(context, settings);
  const { signers } = await loadSigning(context, settings);
  const once = { ...options, attempts: 1 };
  const client = await connectTo(context, settings, once, { secret, acceptsAnyUser: true });
  let count = 0;
  const onSent = () => {
    count += 1;
  };
  const { signal } = context;
  const pauseMs = options.pause;
  const connection = { client, signers, secret, signal, pauseMs, maxRequests, onSent };
  return { session: new ProbeSession(connection, user), client, sent: () => count };
}

/**
 * The codes of `--code`: an argument list shows what it holds to others on the machine, standard
 * input does not.
 */
async function readCodes({ context, options }: Invocation<ProbeOptions>): Promise<string[]> {
  const { code: values = [] } = options;
  const texts: string[] = [];
  for (const value of values) texts.push(value === '-' ? await readText(context, value) : value);
  const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.trim());
  const codes = lines.filter((line) => line !== '');
  if (values.length === 0 || codes.length > 0) return codes;
  throw new InvalidInputError('--code is empty: is the variable set?');
}

/** Says what will be sent, and asks where it concerns production or a user. */
async function announce(
  { context, io, options }: Invocation<ProbeOptions>,
  { environment, base_url }: Settings,
  { codes, unionId, key }: ProbedUser,
  maxRequests: number,
): Promise<void> {
  const { host } = new URL(base_url.value);
  const aboutUser: string[] = [];
  if (codes.length > 0)
    aboutUser.push('- reads of the user with the codes of --code, until used up');
  if (unionId !== undefined) {
    aboutUser.push(
      `- two passbacks of ${key}=1.50 to the user of --union-id, and its removal, with copies`,
      '- four passbacks that a correct platform refuses',
    );
  }
  const pace = `one every ${options.pause} ms`;
  await printMessage(io, `To ${host}, at most ${maxRequests} requests, ${pace}:`);
  await printMessage(io, '- reads with codes that were never issued, each with one fault');
  for (const line of aboutUser) await printMessage(io, line);
  if (environment.value === 'production')
    await confirm(context, 'Send this to production?', options.yes);
  else if (aboutUser.length > 0) await confirm(context, 'Send this?', options.yes);
}

async function printResult(
  { io, options, style, isTable, print }: Invocation<ProbeOptions>,
  result: ProbeResult,
): Promise<void> {
  const { probeRecord, probeTables, summaryOf } = await import('./report.late.js');
  if (isTable) await writeStyled(io.stdout, `${style.colors.bold(summaryOf(result))}\n\n`);
  await print(isTable ? probeTables(result, options.verbose === true) : probeRecord(result));
  for (const doubt of result.doubts) await warn(io, doubt);
}

async function saveResult(
  { context, io, options: { save, saveProfile } }: Invocation<ProbeOptions>,
  { profile }: Settings,
  { platform, file }: ProbeResult,
): Promise<void> {
  if (save !== undefined) {
    try {
      writeFileSync(save, `${JSON.stringify(file, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw refusal(save, describeSystemError(error));
    }
    const command = `userinfo serve --platform ${quoteWhereNeeded(save)}`;
    await printMessage(io, `saved in ${quoteName(save)}: "${command}" answers in the same way`);
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
