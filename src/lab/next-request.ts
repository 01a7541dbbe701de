import { compileComplete } from '../signing/compile-recipe.js';
import type { SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import type { RuleGroup } from './groups.js';

/**
 * The index of the request whose signature tells most about which group is right: the one that divides the weight of
 * the groups best. The requests are given as their signer sees them, for `sign` with their `app_sign`. Null if the
 * groups sign each of them alike.
 */
export function nextRequest(
  groups: readonly RuleGroup[],
  requests: readonly SignableRequest[],
  secret: Secret,
): number | null {
  const signers = groups.map(({ recipe, weight }) => ({ signer: compileComplete(recipe), weight }));
  let best: number | null = null;
  let most = 0;
  for (const [index, request] of requests.entries()) {
    const weights = new Map<string, number>();
    for (const { signer, weight } of signers) {
      const { digest } = signer.sign(request, secret);
      weights.set(digest, (weights.get(digest) ?? 0) + weight);
    }
    const bits = entropy([...weights.values()]);
    if (bits <= most) continue;
    most = bits;
    best = index;
  }
  return best;
}

/** The information of an answer, in bits, if each part is as likely as its share of the weight. */
function entropy(weights: readonly number[]): number {
  if (weights.length < 2) return 0;
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.reduce((bits, weight) => bits - (weight / sum) * Math.log2(weight / sum), 0);
}
