import type { Param } from '../../signing/request.js';
import { type Chain, chainIdentity, digestChains } from './chains.js';
import { distinctPieces, type Piece, priceNames, type RequestPieces, requestPieces } from './pieces.js';
import { secretForms, secretNames } from './secrets.js';
import { readSignature, type SignedRequest } from './signature-reading.js';
import { type Choice, distinctBy } from './weighted.js';

/** A signed request and its secret: the input of a search. */
export interface SolveTask extends SignedRequest {
  /** The parameters of the other samples of the same rule. */
  readonly otherParams: readonly Param[];
}

/** The possible parts of a rule, for one task. */
export interface SearchSpace {
  readonly task: SolveTask;
  readonly pieces: RequestPieces;
  readonly hasBody: boolean;
  /** The parameter names of all samples, each with the cost of choosing it for a fixed list. */
  readonly paramNames: readonly Choice<string>[];
  /** Texts that can be in the place of the secret. */
  readonly forms: readonly Piece[];
  /** Possible names of the secret. */
  readonly secretNames: readonly Choice<string>[];
  readonly chains: readonly Chain[];
}

/** All possible parts, to list every recipe. */
export function wholeSearchSpace(task: SolveTask): SearchSpace {
  const { request, secret, otherParams } = task;
  const pieces = requestPieces(request);
  return makeSearchSpace(task, {
    pieces,
    forms: secretForms(secret, pieces),
    paramNames: priceNames([...request.params, ...otherParams]),
    readings: readSignature(task),
  });
}

/** Only the likeliest of parts with the same text in this request: enough to find the message. */
export function distinctSearchSpace(task: SolveTask): SearchSpace {
  const { request, secret } = task;
  const all = requestPieces(request);
  const pieces: RequestPieces = {
    ...all,
    bodies: distinctPieces(all.bodies),
    values: distinctPieces(all.values),
    extras: distinctPieces(all.extras),
  };
  const space = makeSearchSpace(task, {
    pieces,
    forms: distinctPieces(secretForms(secret, pieces)),
    paramNames: all.names,
    readings: readSignature(task),
  });
  return { ...space, chains: distinctBy(space.chains, chainIdentity) };
}

type Parts = Pick<SearchSpace, 'pieces' | 'forms' | 'paramNames'> & {
  readonly readings: ReturnType<typeof readSignature>;
};

function makeSearchSpace(task: SolveTask, { pieces, forms, paramNames, readings }: Parts): SearchSpace {
  const { params, body } = task.request;
  const names = secretNames(params);
  return {
    task,
    pieces,
    hasBody: body !== null && body !== '',
    paramNames,
    forms,
    secretNames: names,
    chains: digestChains({ readings, forms, pieces, names }),
  };
}
