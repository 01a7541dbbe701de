import type { Explanation } from '../signer.js';
import { type Finding, findMistakes } from './find-mistakes.js';
import type { ReceivedSignature } from './suspect.js';

/** What a received signature is found to be. */
export interface Verdict {
  readonly right: boolean;
  readonly received: string;
  /** How it should have been made; `digest` is the expected signature. */
  readonly explanation: Explanation;
  /** Of a wrong one: what may have been done, likeliest first; empty where no usual mistake fits. */
  readonly findings: readonly Finding[];
}

/** Whether a signature is right, and if it is not, which of the usual mistakes it comes from. */
export function verifySignature(wrong: ReceivedSignature): Verdict {
  const { signer, request, secret, received } = wrong;
  const explanation = signer.explain(request, secret);
  const right = explanation.digest === received;
  return { right, received, explanation, findings: right ? [] : findMistakes(wrong) };
}
