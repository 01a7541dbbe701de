import { randomBytes } from 'node:crypto';
import type { PlainRequest } from '../../client/call/request.js';
import { defaultScope, type Endpoint, endpointNamed } from '../../core/contract/endpoints.js';
import { unissuedCode } from '../unissued-code.js';

/**
 * A request that cannot change anything: a read with a code that was never issued (§4.1), or a
 * passback without a user or without the key that names one (§4.2, rules 1 and 2), whose
 * `user_info` is empty.
 */
export interface HarmlessRequest {
  readonly title: string;
  readonly request: PlainRequest;
  /** What `random` (§5.4) is, where it is no usual one. */
  readonly random?: string;
}

/** A name that no user and no key has. */
const nobody = 'userinfo_nobody';

/**
 * Characters that the usual encoders write differently: 16, so that a `random` has room for them.
 */
const oddText = " a~b*c+d/e!'(é中)";

function read(title: string, values: Readonly<Record<string, string>>): HarmlessRequest {
  const infoNames = values.info_name?.split(',') ?? [];
  return {
    title,
    request: {
      endpoint: endpointNamed.read,
      parameters: new Map(Object.entries(values)),
      infoNames,
    },
  };
}

function passback(title: string, values: Readonly<Record<string, string>>): HarmlessRequest {
  const parameters = new Map(Object.entries({ ...values, user_info: '{}' }));
  return { title, request: { endpoint: endpointNamed.passback, parameters, infoNames: [] } };
}

/** The harmless requests, by what each of them shows of a signing rule. */
export const harmlessRequests = {
  plain: () => read('a read', { code: unissuedCode() }),
  named: () =>
    read('a read by names, with a scope', {
      code: unissuedCode(),
      scope: defaultScope,
      info_name: `${nobody}_1,${nobody}_2`,
    }),
  onlyNamed: () =>
    read('a read by names', { code: unissuedCode(), info_name: `${nobody}_1,${nobody}_2` }),
  odd: () => read('a read with a code of unusual characters', { code: unissuedCode() + oddText }),
  byKey: () => passback('a passback by a key that user_info lacks', { primary_key: nobody }),
  byOddKey: () =>
    passback('a passback by a key of unusual characters', { primary_key: `${nobody}${oddText}` }),
  atOddRandom: () => ({
    ...passback('a passback whose random has unusual characters', { primary_key: nobody }),
    random: randomBytes(2).toString('hex') + oddText,
  }),
  ofNobody: () => passback('a passback without a user', {}),
} as const satisfies Readonly<Record<string, () => HarmlessRequest>>;

export type HarmlessKind = keyof typeof harmlessRequests;

/**
 * The read whose parameters are sent in the order of their names: rules of both orders give it the
 * same signature.
 */
export function sortedRead(): HarmlessRequest {
  const { title, request } = harmlessRequests.plain();
  const parameters = request.endpoint.parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const endpoint: Endpoint = { ...request.endpoint, parameters };
  return { title, request: { ...request, endpoint } };
}
