import type { Param } from '../../signing/request.js';
import { type Chain, chainIdentity, digestChains } from './chains.js';
import { distinctPieces, type Piece, priceNames, type RequestPieces, requestPieces } from './pieces.js';
import { secretForms, secretNames } from './secrets.js';
import { readSignature, type SignedRequest } from './signature-reading.js';
import { type Choice, distinctBy } from './weighted.js';

/** What a rule is looked for in: a signed request, and the secret. */
export interface SolveTask extends SignedRequest {
  /** The parameters of other samples of the same rule. */
  readonly otherParams: readonly Param[];
}

/** What a rule may be made of, for one task. */
export interface Space {
  readonly task: SolveTask;
  readonly pieces: RequestPieces;
  readonly hasBody: boolean;
  /** The names of the parameters of all samples; the bits say which one is in a fixed list. */
  readonly paramNames: readonly Choice<string>[];
  /** What may stand where the secret does. */
  readonly forms: readonly Piece[];
  /** What the secret may be called. */
  readonly secretNames: readonly Choice<string>[];
  readonly chains: readonly Chain[];
}

/** All that a rule may be made of. */
export function wholeSpace(task: SolveTask): Space {
  const { request, secret, otherParams } = task;
  const pieces = requestPieces(request);
  return makeSpace(task, {
    pieces,
    forms: secretForms(secret, pieces),
    paramNames: priceNames([...request.params, ...otherParams]),
    readings: readSignature(task),
  });
}

/** Of parts that are the same text in this request, only the likeliest: enough to find the message. */
export function distinctSpace(task: SolveTask): Space {
  const { request, secret } = task;
  const all = requestPieces(request);
  const pieces: RequestPieces = {
    ...all,
    bodies: distinctPieces(all.bodies),
    values: distinctPieces(all.values),
    extras: distinctPieces(all.extras),
  };
  const space = makeSpace(task, {
    pieces,
    forms: distinctPieces(secretForms(secret, pieces)),
    paramNames: all.names,
    readings: readSignature(task),
  });
  return { ...space, chains: distinctBy(space.chains, chainIdentity) };
}

type Parts = Pick<Space, 'pieces' | 'forms' | 'paramNames'> & {
  readonly readings: ReturnType<typeof readSignature>;
};

function makeSpace(task: SolveTask, { pieces, forms, paramNames, readings }: Parts): Space {
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
