import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallClient } from '../../../client/client.js';
import { RejectedError } from '../../../client/errors.js';
import { readRequest } from '../../../client/request.js';
import type { Settings } from '../../../profiles/settings.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import type { ResultCodeName } from '../../../protocol/result-codes.js';
import { compileRecipes } from '../../../signing/app-signatures.js';
import { compileRecipe } from '../../../signing/compile-recipe.js';
import { type Preset, presets } from '../../../signing/presets.js';
import { clientOptions, resolveDeployment } from '../../call/deployment.js';
import { saveSigners } from '../../call/resolve-signing.js';
import type { Call } from '../../command.js';
import type { ConnectionOptions } from '../../command-line/options.js';
import { printMessage } from '../../io.js';
import { confirm } from '../../prompt.js';
import { CheckFailedError, ExplainedError } from '../../report-error.js';

export interface TryOptions extends ConnectionOptions {
  /** Requests a second. */
  readonly rate: number;
  /** Name of the profile that receives the presets. */
  readonly save?: string;
}

/** The presets of both signatures. */
interface PresetPair {
  readonly app_sign: Preset;
  readonly sign: Preset;
}

/** The signature that an answer refuses, or its length, which is checked before both; null where it refuses none. */
type Verdict = 'app_sign' | 'sign' | 'length of sign' | null;

/**
 * Tries presets for `app_sign`, then for `sign`: a service checks `app_sign` first, and says which one is wrong (§7).
 *
 * @throws InvalidInputError for production, or without consent; CheckFailedError if no preset fits; ExplainedError
 * for any other answer; NoAnswerError
 */
export async function tryPresets(call: Call<TryOptions>): Promise<void> {
  const { context, io, options, print } = call;
  const { save, rate } = options;
  const settings = await resolveDeployment(context, options);
  refuseProduction(settings);
  if (save !== undefined) await context.profiles.get(save);
  const { host } = new URL(settings.base_url.value);
  const most = 2 * presets.length + lengths.size;
  await confirm(
    context,
    `Send up to ${most} reads of a code that nobody has to ${host}, most of them with a wrong signature?`,
    options.yes,
  );
  const client = await context.connect({ ...(await clientOptions(context, settings, options)), attempts: 1 });
  const trial = trialOf(client, 1000 / rate, context.signal);
  const found = await search(trial);
  await print({
    app_sign: found.app_sign.name,
    sign: found.sign.name,
    requests: trial.requests,
    answer: trial.answer,
  });
  const choice = `app_sign=${found.app_sign.name},sign=${found.sign.name}`;
  if (save === undefined) {
    const profile = settings.profile ?? 'PROFILE';
    await printMessage(io, `To use them: userinfo profile set ${profile} --signing-preset ${choice}`);
    return;
  }
  await saveSigners(context, save, { app_sign: found.app_sign.recipe, sign: found.sign.recipe });
  await printMessage(io, `saved in profile "${save}": ${choice}`);
}

function refuseProduction({ environment, profile }: Settings): void {
  if (environment.value !== 'production') return;
  throw new InvalidInputError(`${profile === null ? 'this' : `profile "${profile}"`} is production`, {
    hint: 'Presets are tried only against test deployments: wrong signatures look like an attack.',
  });
}

const lengths = new Set(presets.map(lengthOf));

function lengthOf({ recipe }: Preset): number | null {
  return compileRecipe(recipe).digestLength;
}

async function search(trial: Trial): Promise<PresetPair> {
  let signs = [...presets];
  for (const app_sign of presets) {
    for (;;) {
      const [sign] = signs;
      if (sign === undefined) throw noPreset('sign', trial);
      const verdict = await trial.send({ app_sign, sign });
      if (verdict === null) return { app_sign, sign };
      if (verdict === 'app_sign') break;
      const isLength = verdict === 'length of sign';
      signs = signs.filter((other) => other !== sign && !(isLength && lengthOf(other) === lengthOf(sign)));
    }
  }
  throw noPreset('app_sign', trial);
}

function noPreset(name: string, { requests }: Trial): CheckFailedError {
  return new CheckFailedError(
    `no preset gives the ${name} of this deployment: ${requests} requests were sent`,
    {
      hint:
        'Check the secret, as "userinfo doctor" shows it. Ask the operator for a request that was accepted, and ' +
        'find its rule: userinfo sign solve --sample request.txt',
    },
  );
}

type Trial = ReturnType<typeof trialOf>;

/** Sends reads of a code that nobody has, at a steady pace. */
function trialOf(client: CallClient, intervalMs: number, signal: AbortSignal) {
  const request = readRequest({ code: `nobody-${randomBytes(8).toString('hex')}` });
  const trial = {
    /** Number of requests sent. */
    requests: 0,
    /** The last answer. */
    answer: '',
    /**
     * The signature that is wrong.
     *
     * @throws ExplainedError for an answer that is neither about a signature nor about the code
     */
    async send({ app_sign, sign }: PresetPair): Promise<Verdict> {
      const signing = compileRecipes({ app_sign: app_sign.recipe, sign: sign.recipe });
      if (trial.requests > 0) await sleep(intervalMs, undefined, { signal });
      trial.requests += 1;
      try {
        await client.withOptions({ signing }).send(request, { signal });
        trial.answer = '200 ok';
        return null;
      } catch (error) {
        if (!(error instanceof RejectedError)) throw error;
        trial.answer = `${error.resultCode} ${error.msg}`;
        return verdictOf(error, { app_sign, sign });
      }
    },
  };
  return trial;
}

/** Answers that only a request with both signatures gets. */
const accepted: readonly (ResultCodeName | undefined)[] = ['codeNotValid', 'noSuchUser'];

function verdictOf(error: RejectedError, { app_sign, sign }: PresetPair): Verdict {
  const { means } = error;
  if (accepted.includes(means)) return null;
  if (means === 'wrongAppSign') return 'app_sign';
  if (means === 'wrongSign') return 'sign';
  // The request is well formed but for what a preset gives.
  if (means === 'malformedParameter') return 'length of sign';
  throw new ExplainedError(error, {
    hint:
      `That is not about a signature or the code, so no more were sent. The last presets: app_sign=${app_sign.name},sign=${sign.name}. If it is, ` +
      `say so in "result_codes" of a platform file. ${error.hint}`,
  });
}
