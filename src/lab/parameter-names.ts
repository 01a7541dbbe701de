import { endpoints } from '../core/contract/endpoints.js';

const [firstEndpoint, ...otherEndpoints] = endpoints;

/** The names of the parameters that every operation has (§5.3), without the two signatures. */
export const commonNames: readonly string[] = (firstEndpoint?.parameters ?? [])
  .map(({ name }) => name)
  .filter((name) => name !== 'app_sign' && name !== 'sign')
  .filter((name) =>
    otherEndpoints.every(({ parameters }) =>
      parameters.some((parameter) => parameter.name === name),
    ),
  );

/** The names of all parameters in the order of the tables of §4, without `sign`. */
export const contractNames: readonly string[] = [
  ...new Set(endpoints.flatMap(({ parameters }) => parameters.map(({ name }) => name))),
].filter((name) => name !== 'sign');
