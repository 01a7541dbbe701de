import { forAppSign } from '../../core/signing/app-signatures.js';
import {
  type Param,
  paramOf,
  type Sample,
  type SignableRequest,
} from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import { unsignedSample } from '../samples/captured-request.js';
import type { RecipeCandidate } from './candidates/cost.js';
import { proposedExtra } from './signed-headers.js';

/** What a document says of a rule. */
export interface TaskHints {
  /** The digests, in order, such as `hmac-sha256`. */
  readonly steps?: readonly string[] | undefined;
  /** The text between the parts of the message. */
  readonly join?: string | undefined;
  /** The signed headers or parameters, in order: all of them are in the message. */
  readonly headers?: readonly string[] | undefined;
  /** Texts that are in the message as they stand, in order. */
  readonly constants?: readonly string[] | undefined;
}

/** What a document says of a rule; each hint narrows the search, which then goes deeper. */
export interface Hints extends TaskHints {
  /** A recipe with `"?"` in place of what the document does not say. */
  readonly recipe?: unknown;
}

/** The headers that hints name. */
function namedHeaders({ recipe, headers = [] }: Hints): string[] {
  const tokens = JSON.stringify(recipe ?? '').matchAll(/\{extra:([^}"]+)\}|\$extra:([\w-]+)/g);
  return [...headers, ...[...tokens].map(([, braced, plain = '']) => braced ?? plain)];
}

/** A signed request and its secret: the input of a search. */
export interface SolveTask {
  readonly request: SignableRequest;
  readonly secret: Secret;
  readonly signature: string;
  /** The parameters of the other samples of the same rule. */
  readonly otherParams: readonly Param[];
  /** What is known of the rule: the search tries nothing else, and so goes deeper. */
  readonly hints?: TaskHints;
}

/** Whether a document names so much of the rule that the search goes deep. */
export function isHinted({
  hints: { steps, headers = [], constants = [] } = {},
}: SolveTask): boolean {
  return steps !== undefined || headers.length + constants.length > 0;
}

/** A recipe that gives the signature of a task, if one was found. */
export interface Found {
  /** Number of recipes tried. */
  readonly tried: number;
  readonly hit: RecipeCandidate | null;
}

export interface SignedSample extends Sample {
  readonly secret: Secret;
}

/**
 * The tasks for the signature of the samples: one rule that fits them all.
 *
 * @throws SampleError for a sample without a signature
 */
export function tasksForSign(samples: readonly SignedSample[], hints: Hints = {}): SolveTask[] {
  const named = namedHeaders(hints);
  return withOthers(
    samples.map((sample) => {
      const { signature, secret } = sample;
      if (signature === null) throw unsignedSample(sample);
      return { request: requestOf(sample, named), secret, signature };
    }),
  );
}

/** The tasks for `app_sign`, where `sign` covers it in every sample (§5.5, §5.6); else null. */
export function tasksForAppSign(samples: readonly SignedSample[]): SolveTask[] | null {
  const tasks = samples.flatMap((sample) => {
    const { signParam, secret } = sample;
    const signature = paramOf(sample, 'app_sign');
    return signParam !== 'sign' || !signature
      ? []
      : [{ request: forAppSign(requestOf(sample)), secret, signature }];
  });
  return tasks.length === samples.length && tasks.length > 0 ? withOthers(tasks) : null;
}

/** The values that a rule may sign: of the headers only those that are worth a search. */
function requestOf(sample: SignedSample, named: readonly string[] = []): SignableRequest {
  const { signature, signParam, secret, headers, ...request } = sample;
  return { ...request, extra: proposedExtra(sample, named) };
}

function withOthers(tasks: readonly Omit<SolveTask, 'otherParams'>[]): SolveTask[] {
  return tasks.map((task) => ({
    ...task,
    otherParams: tasks.filter((other) => other !== task).flatMap(({ request }) => request.params),
  }));
}
