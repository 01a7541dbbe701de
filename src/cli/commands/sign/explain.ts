import type { PlainRequest } from '../../../client/call/request.js';
import { endpoints, type OperationName } from '../../../core/contract/endpoints.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import type { Settings } from '../../../core/profiles/settings.js';
import {
  type ExplanationPair,
  explainBoth,
  type SigningChoice,
} from '../../../core/signing/app-signatures.js';
import type { Secret } from '../../../core/signing/secret.js';
import type { Explanation } from '../../../core/signing/signer.js';
import type { Sample } from '../../../lab/samples/captured-request.js';
import type { Difference } from '../../../lab/verify/compare-messages.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
import { warn } from '../../output/style.js';
import { showInvisible } from '../../output/terminal-text.js';
import { loadSigning, readSecretOf, resolveDeployment } from '../../request/deployment.js';
import type { OperationCall } from '../../request/operation-call.js';
import {
  addRecipeOption,
  type RecipeOptions,
  selectRule,
  selectSecret,
} from '../../request/resolve-signing.js';
import { passbackCall } from '../passback/index.js';
import { readCall } from '../read/index.js';
import { addSampleOptions, readSampleInputs, type SampleOptions } from './sample-input.js';

type ExplainOptions = SampleOptions & RecipeOptions;

/** What makes the request of an operation, as its own command has it. */
type ExplainedCall = Pick<OperationCall<never, never[]>, 'takesForRequest' | 'request'>;

const calls: Readonly<Record<OperationName, ExplainedCall>> = {
  read: readCall,
  passback: passbackCall,
};

const declareOperations = endpoints.map(({ operation }) => {
  const { takesForRequest, request } = calls[operation];
  return command({
    name: operation,
    common: ['profile', 'output'],
    summary: `show how a ${operation} would be signed`,
    takes: (command) => addConnectionOptions(takesForRequest(command)),
    action: async (invocation: Invocation<ExplainedOptions>, ...args: never[]) =>
      explainRequest(invocation, await request(invocation as Invocation<never>, ...args)),
  });
});

export const declareSignExplain = command({
  name: 'explain',
  common: ['profile', 'output'],
  summary: 'show how a request is signed, stage by stage',
  takes: (command) =>
    addSampleOptions(
      addRecipeOption(
        command.argument('[request]', 'such as a URL or a curl command; - for standard input'),
      ),
    ),
  action: explainSample,
  commands: declareOperations,
});

async function explainSample(
  invocation: Invocation<ExplainOptions>,
  request?: string,
): Promise<void> {
  const { context, options } = invocation;
  const { signing } = await selectRule(context, options);
  const [sample] = await readSampleInputs(context, request, options);
  const secret = await selectSecret(context, options, sample.secret);
  await printExplanation(invocation, explainSigning(signing, sample, secret));
}

function explainSigning(
  signing: SigningChoice,
  sample: Sample,
  secret: Secret,
): Explanation | ExplanationPair {
  if (signing.kind === 'one') return signing.signer.explain(sample, secret);
  return explainBoth(signing.signers, sample, secret);
}

/** Values that differ in every request: fixed, so that signatures can be compared. */
const moment = { random: 'fixed-for-explain', timestamp: 1_700_000_000 };

type ExplainedOptions = ExplainOptions & ConnectionOptions;

/** Shows how a request would be signed, stage by stage. Sends nothing. */
async function explainRequest(
  invocation: Invocation<ExplainedOptions>,
  request: PlainRequest,
): Promise<void> {
  const { context, options } = invocation;
  if (options.sample !== undefined) {
    throw new InvalidInputError(
      '--sample is a request: it cannot be combined with arguments for another',
    );
  }
  const settings = await resolveDeployment(context, options);
  const signing = await signingOf(context, options, settings);
  if (signing.kind === 'one') {
    throw new InvalidInputError('--recipe has one recipe; a request has app_sign and sign', {
      hint: 'Write {"app_sign": …, "sign": …}, or explain one signature of a --sample.',
    });
  }
  const { signableRequest } = await import('../../../client/call/sign-request.js');
  const signable = signableRequest(
    request,
    settings.base_url.value,
    {
      tenantCode: settings.tenant_code.value,
      appKey: settings.app_key.value,
      channel: settings.channel.value,
    },
    moment,
  );
  const secret = await readSecretOf(context, settings);
  await printExplanation(invocation, explainBoth(signing.signers, signable, secret));
}

/** The rules of `--recipe`; without it, those of the deployment. */
async function signingOf(
  context: CliContext,
  options: Invocation<ExplainedOptions>['options'],
  settings: Settings,
): Promise<SigningChoice> {
  if (options.recipe === undefined) return loadSigning(context, settings);
  const { signing } = await selectRule(context, options);
  return signing;
}

/**
 * Prints the stages of one signature or of both, and warns of tokens without a value in the
 * request.
 */
async function printExplanation(
  { io, isTable, print }: Invocation,
  explained: Explanation | ExplanationPair,
): Promise<void> {
  const isOne = 'digest' in explained;
  const explanations = isOne ? [explained] : [explained.app_sign, explained.sign];
  for (const token of new Set(explanations.flatMap(({ missing }) => missing))) {
    await warn(io, `the request has no value for ${token}: an empty text is used`);
  }
  if (isOne) {
    await print(stagesOf(explained, isTable));
    return;
  }
  await print({
    app_sign: stagesOf(explained.app_sign, isTable),
    sign: stagesOf(explained.sign, isTable),
  });
}

/** The stages, for a person with marks for invisible characters. */
export function stagesOf({ params, message, digest }: Explanation, isForPerson: boolean) {
  const show = isForPerson ? showInvisible : String;
  return { params: show(params), message: show(message), digest };
}

/** Both texts, with a mark at the first difference. */
export function markDifference({ ours, theirs, alike }: Difference): {
  ours: string;
  theirs: string;
} {
  const mark = (text: string) =>
    `${showInvisible(text.slice(0, alike))}▶${showInvisible(text.slice(alike))}`;
  return { ours: mark(ours), theirs: mark(theirs) };
}
