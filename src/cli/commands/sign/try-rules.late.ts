// Only "sign try" and "profile add" load it.

import { endpoints } from '../../../core/contract/endpoints.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import type { Settings } from '../../../core/profiles/settings.js';
import {
  type SignatureName,
  type SignerPair,
  signatureNames,
} from '../../../core/signing/app-signatures.js';
import type { Recipe, SigningRecipes } from '../../../core/signing/recipe.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { describeRecipe } from '../../../lab/describe-recipe.js';
import { type AskedRules, askForRules } from '../../../lab/settle/ask-for-rules.js';
import type { Asker } from '../../../lab/settle/asker.js';
import type { Candidate } from '../../../lab/settle/candidates.js';
import type { Search } from '../../../lab/settle/search-by-asking.js';
import type { CliContext, Invocation } from '../../command.js';
import { type ConnectionOptions, usualRate } from '../../command-line/options.js';
import { CheckFailedError } from '../../errors.js';
import { printAdvice, printMessage } from '../../io.js';
import { formatCount } from '../../output/numbers.js';
import { confirm } from '../../prompt.js';
import {
  askPlatform,
  connectToAsk,
  describeReply,
  reportOperation,
  stopWords,
} from '../../request/ask-platform.late.js';
import { commandOf, withFlags } from '../../request/command-text.js';
import { loadSigning, readSecretOf, resolveDeployment } from '../../request/deployment.js';
import { adviceOfAddress } from '../../request/explain-failure.late.js';
import { saveSigners } from '../../request/resolve-signing.js';

export interface TryOptions extends ConnectionOptions {
  /** Requests a second. */
  readonly rate?: number;
  /** Name of the profile that receives the rules. */
  readonly save?: string;
  /** Number of rules that were refused before. */
  readonly skip?: number;
}

/** Numbers of requests, all together, that are asked for one after the other. */
const budgets = [150, 600, 1000] as const;

/** The question before the first requests. */
export function tryQuestion(baseUrl: string, rate: number = usualRate): string {
  const { host } = new URL(baseUrl);
  const what = 'requests that change nothing, most of them with a wrong signature';
  return `Send up to ${budgets[0]} ${what}, to ${host}, ${rate} a second?`;
}

/**
 * Asks a test deployment for its rules, by requests that cannot change anything.
 *
 * @throws InvalidInputError for production, or without consent; CheckFailedError if a rule is not
 * found; NoAnswerError
 */
export async function tryRules(invocation: Invocation<TryOptions>): Promise<void> {
  const { context, options } = invocation;
  const { save, rate } = options;
  const settings = await resolveDeployment(context, options);
  refuseProduction(settings);
  if (save !== undefined) await context.profiles.get(save);
  await confirm(context, tryQuestion(settings.base_url.value, rate), options.yes);
  const goOn = (refused: number) => commandOf(withFlags(context.args, ['--skip', `${refused}`]));
  await askAndSave(invocation, settings, goOn);
}

/**
 * The same, once it was agreed to. `goOn` is the command that goes on after so many rules that were
 * refused.
 */
export async function askAndSave(
  invocation: Invocation<TryOptions>,
  settings: Settings,
  goOn: (refused: number) => readonly string[] = (refused) => [
    `${signCommand(settings, invocation.options, 'try')} --skip ${refused}`,
  ],
): Promise<void> {
  const { context, io, options, isTable, print } = invocation;
  const { rate, skip = 0 } = options;
  const secret = await readSecretOf(context, settings);
  const profileRules = rulesOfProfile(await loadSigning(context, settings));
  let refused = skip;
  const onRefused = (count: number) => {
    refused = count;
  };
  const budget = { maxRequests: budgets[0], rate, more: askForMore(context, options.yes) };
  const client = await connectToAsk(context, settings, options, secret);
  const work = async (asker: Asker) => {
    const asked = await askForRules(asker, client, secret, {
      profileRules,
      skip,
      onRefused,
    });
    return { ...asked, requests: asker.sent };
  };
  let asked: Asked;
  try {
    asked = await askPlatform(context, client, budget, work);
  } catch (error) {
    if (context.signal.aborted)
      await printAdvice(io, { hint: 'To go on later:', commands: goOn(refused) });
    throw error;
  } finally {
    await client.close();
  }
  if (asked.search.ended === 'no envelope') throw noEnvelope(asked.search);
  if (asked.search.ended === 'accepts any signature') throw acceptsAny(asked.search);
  const rules = rulesOf(asked);
  await print(isTable ? tableOf(asked, rules) : recordOf(asked, rules));
  await saveNewRules(invocation, asked, rules, profileRules);
  if (asked.settlement === null)
    throw notFound(asked, signCommand(settings, options, 'solve'), goOn(refused));
}

/** Says how many requests were sent, and asks for the next ones. */
function askForMore(
  { prompt }: CliContext,
  yes: boolean | undefined,
): (sent: number) => Promise<number> {
  let index = 0;
  return async (sent) => {
    const [before = 0, next] = budgets.slice(index, index + 2);
    if (next === undefined) return 0;
    index += 1;
    const more = next - before;
    const question = `${sent} requests did not find both rules. Send up to ${more} more?`;
    if (yes) return more;
    if (prompt.possible && (await prompt.confirm(question))) return more;
    return 0;
  };
}

/** The rules of the profile, which are asked for first. */
function rulesOfProfile({ signers, recipes }: SignerPair): Record<SignatureName, Candidate> {
  return {
    app_sign: { signer: signers.app_sign, recipe: recipes.app_sign, weight: 1 },
    sign: { signer: signers.sign, recipe: recipes.sign, weight: 1 },
  };
}

/** The rules that were found. A module is none: it has no recipe. */
function rulesOf({ search, settlement }: AskedRules): Partial<SigningRecipes> {
  const rules: Partial<Record<SignatureName, Recipe>> = {};
  for (const name of signatureNames) {
    const recipe = settlement?.left[name][0]?.recipe ?? search[name]?.recipe;
    if (recipe) rules[name] = recipe;
  }
  return rules;
}

interface Asked extends AskedRules {
  readonly requests: number;
}

function tableOf({ settlement, requests }: Asked, rules: Partial<SigningRecipes>): object {
  const described = signatureNames.map((name) => {
    const rule = rules[name];
    return [name, rule === undefined ? 'not found' : describeRecipe(rule)];
  });
  const rulesFound = Object.fromEntries(described);
  if (settlement === null) return { ...rulesFound, requests };
  const seen = endpoints.map(({ operation }) => [
    operation,
    reportOperation(operation, settlement).detail,
  ]);
  return { ...rulesFound, ...Object.fromEntries(seen), requests };
}

/** `signing` is that of a platform file. */
function recordOf({ settlement, requests }: Asked, signing: Partial<SigningRecipes>): object {
  const seen = endpoints.map(({ operation }) => [
    operation,
    settlement && reportOperation(operation, settlement),
  ]);
  return { signing, ...Object.fromEntries(seen), requests };
}

async function saveNewRules(
  { context, io, options: { save } }: Invocation<TryOptions>,
  { search }: Asked,
  rules: Partial<SigningRecipes>,
  profileRules: Readonly<Record<SignatureName, Candidate>>,
): Promise<void> {
  const newNames = signatureNames.filter(
    (name) => rules[name] !== undefined && rules[name] !== profileRules[name].recipe,
  );
  if (newNames.length === 0) {
    const isOfProfile =
      search.app_sign === profileRules.app_sign && search.sign === profileRules.sign;
    if (isOfProfile) await printMessage(io, 'the rules of the profile are accepted');
    return;
  }
  if (save === undefined) {
    await printMessage(io, 'To store what was found, add --save PROFILE.');
    return;
  }
  await saveSigners(context, save, Object.fromEntries(newNames.map((name) => [name, rules[name]])));
  await printMessage(io, `saved in profile "${save}": ${newNames.join(' and ')}`);
}

function refuseProduction({ environment, profile }: Settings): void {
  if (environment.value !== 'production') return;
  const subject = profile === null ? 'this' : `profile "${profile}"`;
  throw new InvalidInputError(`${subject} is production`, {
    hint: 'Rules are tried only against test deployments: wrong signatures look like an attack.',
  });
}

/** A command of `userinfo sign` for the same profile. */
function signCommand({ profile }: Settings, { save }: TryOptions, name: string): string {
  const words = ['userinfo sign', name];
  if (profile !== null) words.push('-p', quoteWhereNeeded(profile));
  if (save !== undefined) words.push('--save', quoteWhereNeeded(save));
  return words.join(' ');
}

function notFound(
  { search, requests }: Asked,
  solve: string,
  goOn: readonly string[],
): CheckFailedError {
  const hints = [
    endHint(search),
    'Check the secret, as "userinfo doctor" shows it. ' +
      'A request that was accepted finds the rule sooner:',
  ];
  const commands = [`${solve} --sample request.txt`];
  if (search.ended !== 'all tried') commands.push(...goOn);
  return new CheckFailedError(whatIsMissing(search, requests), {
    hint: hints.join('\n'),
    commands,
  });
}

function noEnvelope({ last }: Search): CheckFailedError {
  const answer = describeReply(last);
  return new CheckFailedError(`the answer is no envelope: ${answer}`, {
    hint: (last && adviceOfAddress(last.httpStatus)) ?? 'Check the base URL.',
  });
}

function acceptsAny({ last }: Search): CheckFailedError {
  return new CheckFailedError(`a wrong signature is accepted: ${describeReply(last)}`, {
    hint: 'The platform does not check signatures, at least not with a code that was never issued: no rule can be found by asking.',
  });
}

function whatIsMissing({ app_sign, sign }: Search, requests: number): string {
  const count = `${formatCount(requests)} requests`;
  if (app_sign === null && sign === null) {
    return `neither app_sign nor sign was found by ${count}`;
  }
  const missing = app_sign === null ? 'app_sign' : 'sign';
  return `${missing} was not found by ${count}, the other signature was`;
}

function endHint({ ended, judging, last }: Search): string {
  if (ended === 'throttled' || ended === 'other answer')
    return `Stopped: ${stopWords[ended]}. Go on later.`;
  if (judging.kind === 'apart') return `The platform answers ${describeReply(last)}.`;
  const answers = `Each answer was ${describeReply(last)}.`;
  const aboutAddress = last && adviceOfAddress(last.httpStatus);
  if (aboutAddress !== null) return `${answers} ${aboutAddress}`;
  return (
    `${answers} That decides nothing where the platform has one answer for both signatures, ` +
    'or looks at the code before them.'
  );
}
