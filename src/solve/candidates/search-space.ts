import type { SolveTask } from '../tasks.js';
import { type Chain, chainIdentity, digestChains } from './chains.js';
import { type Choice, distinctBy } from './cost.js';
import { weighNames } from './parameter-roles.js';
import { distinctPieces, type Piece } from './pieces.js';
import { type RequestPieces, requestPieces } from './request-pieces.js';
import { secretForms, secretNames } from './secrets.js';
import { readSignature } from './signature-reading.js';

/** The possible parts of a rule. */
export interface SearchSpace {
  readonly task: SolveTask;
  /** Whether only the likeliest of parts that are equal in this request is wanted. */
  readonly isDistinct: boolean;
  readonly pieces: RequestPieces;
  readonly hasBody: boolean;
  /** The parameter names of all samples, each with the cost of choosing it for a fixed list. */
  readonly paramNames: readonly Choice<string>[];
  /** Texts that can be in the place of the secret. */
  readonly forms: readonly Piece[];
  readonly secretNames: readonly Choice<string>[];
  readonly chains: readonly Chain[];
}

/**
 * Collects the possible parts of a rule. `isDistinct` keeps only the likeliest of parts with the same text in this
 * request: enough to find the message, but not to list every recipe.
 */
export function searchSpace(task: SolveTask, isDistinct: boolean): SearchSpace {
  const { request, secret, otherParams } = task;
  const { params, body } = request;
  const reduce = isDistinct ? distinctPieces : (all: readonly Piece[]) => all;
  const all = requestPieces(request);
  const pieces: RequestPieces = {
    ...all,
    bodies: reduce(all.bodies),
    values: reduce(all.values),
    extras: reduce(all.extras),
  };
  const forms = reduce(secretForms(secret, pieces));
  const names = secretNames(params);
  const chains = digestChains({ readings: readSignature(task), forms, pieces, names });
  return {
    task,
    isDistinct,
    pieces,
    hasBody: body !== null && body !== '',
    paramNames: weighNames(isDistinct ? params : [...params, ...otherParams]),
    forms,
    secretNames: names,
    chains: isDistinct ? distinctBy(chains, chainIdentity) : chains,
  };
}
