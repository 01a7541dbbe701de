import type { SolveTask } from '../tasks.js';
import { type Chain, chainIdentity, digestChains } from './chains.js';
import { type Choice, distinctBy } from './cost.js';
import type { Room } from './lazy-list.js';
import { weighNames } from './parameter-roles.js';
import { distinctPieces, type Piece } from './pieces.js';
import { type RequestPieces, requestPieces } from './request-pieces.js';
import { secretForms, secretNames } from './secrets.js';
import { readSignature } from './signature-reading.js';

/** The possible parts of a rule. */
export interface SearchSpace {
  readonly task: SolveTask;
  readonly pieces: RequestPieces;
  readonly hasBody: boolean;
  /** The parameter names, each with the cost of choosing it for a fixed list. */
  readonly paramNames: readonly Choice<string>[];
  /** Texts that can be in the place of the secret. */
  readonly forms: readonly Piece[];
  readonly secretNames: readonly Choice<string>[];
  readonly chains: readonly Chain[];
  readonly room: Room;
}

/** Characters: with what else there is, a search takes less than 300 MB. */
const allRoom = 80_000_000;

/**
 * Collects the possible parts of a rule: of parts with the same text in this request only the
 * likeliest.
 */
export function searchSpace(task: SolveTask): SearchSpace {
  const { request, secret } = task;
  const { params, body } = request;
  const all = requestPieces(request);
  const pieces: RequestPieces = {
    ...all,
    bodies: distinctPieces(all.bodies),
    values: distinctPieces(all.values),
    extras: distinctPieces(all.extras),
  };
  const forms = distinctPieces(secretForms(secret, pieces));
  const names = secretNames(params);
  const chains = digestChains(
    { readings: readSignature(task), forms, pieces, names },
    task.hints?.steps,
  );
  return {
    task,
    pieces,
    hasBody: body !== null && body !== '',
    paramNames: weighNames(params),
    forms,
    secretNames: names,
    room: { left: allRoom },
    chains: distinctBy(chains, chainIdentity),
  };
}
