import { endpoints } from '../../../protocol/endpoints.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { checkParameters, collectParameters } from '../../../protocol/parameters.js';
import type { Sample } from '../../../signing/request.js';

/**
 * What makes the service refuse a request however it is signed, in words: a parameter that breaks a rule of §4 or §8.
 * `null` where nothing does, or where the request is for another service.
 */
export function brokenRule({ url, params, signParam, signature }: Sample): string | null {
  const endpoint = endpoints.find(({ path }) => url.endsWith(path));
  if (endpoint === undefined || signature === null) return null;
  try {
    checkParameters(endpoint, collectParameters([...params, [signParam, signature]]));
    return null;
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message;
    throw error;
  }
}
