import type { SignableRequest } from '../request.js';
import type { Sample } from '../sample.js';
import { SampleError } from './sample-error.js';

/** The parameter that carries the signature where nothing else is said. */
export const defaultSignParam = 'sign';

/**
 * Takes the signature out of the parameters.
 *
 * @throws SampleError where several parameters carry one
 */
export function takeSignature(request: SignableRequest, signParam: string): Omit<Sample, 'secret'> {
  const signatures = request.params.filter(([name]) => name === signParam);
  if (signatures.length > 1) throw new SampleError(`parameter ${JSON.stringify(signParam)} is given twice`);
  return {
    ...request,
    params: request.params.filter(([name]) => name !== signParam),
    signParam,
    signature: signatures[0]?.[1] ?? null,
  };
}
