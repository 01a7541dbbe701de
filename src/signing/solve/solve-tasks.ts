import { forAppSign } from '../pair.js';
import { paramOf } from '../request.js';
import type { Sample } from '../sample.js';
import { SampleError } from '../samples/sample-error.js';
import type { Secret } from '../secret.js';
import type { SolveTask } from './space/space.js';

/** A sample that was signed, and the secret that signed it. */
export interface SignedSample {
  readonly sample: Sample;
  readonly secret: Secret;
}

/**
 * What is to be found for the signature of the samples: one rule that fits them all.
 *
 * @throws SampleError for a sample without a signature
 */
export function tasksForSign(samples: readonly SignedSample[]): SolveTask[] {
  return withOthers(
    samples.map(({ sample, secret }) => {
      const { signature, signParam, secret: _, ...request } = sample;
      if (signature === null) {
        throw new SampleError(
          `the sample has no signature: there is no parameter ${JSON.stringify(signParam)}`,
          'Name the parameter that carries it by --sign-param.',
        );
      }
      return { request, secret, signature };
    }),
  );
}

/** What is to be found for `app_sign`, where `sign` covers it in every sample (§5.5, §5.6); else null. */
export function tasksForAppSign(samples: readonly SignedSample[]): SolveTask[] | null {
  const tasks = samples.flatMap(({ sample, secret }) => {
    const { signature: _, signParam, secret: __, ...request } = sample;
    const signature = paramOf(sample, 'app_sign');
    return signParam !== 'sign' || !signature ? [] : [{ request: forAppSign(request), secret, signature }];
  });
  return tasks.length === samples.length && tasks.length > 0 ? withOthers(tasks) : null;
}

function withOthers(tasks: readonly Omit<SolveTask, 'otherParams'>[]): SolveTask[] {
  return tasks.map((task) => ({
    ...task,
    otherParams: tasks.filter((other) => other !== task).flatMap(({ request }) => request.params),
  }));
}
