import { randomBytes } from 'node:crypto';
import { signLength } from '../core/contract/limits.js';
import type { Signer } from '../core/signing/signer.js';

/** A signer whose signatures have the right length, and a wrong first character. */
export function spoiled(signer: Signer): Signer {
  return {
    ...signer,
    sign: (request, secret) => {
      const signature = signer.sign(request, secret);
      const { digest } = signature;
      return { ...signature, digest: (digest.startsWith('0') ? '1' : '0') + digest.slice(1) };
    },
  };
}

const randomSignature = () => ({
  params: '',
  message: '',
  digest: randomBytes(signLength / 2).toString('hex'),
});

/** A signer whose signatures no rule gives: each is drawn at random. */
export const randomSigner: Signer = {
  digestLength: signLength,
  sign: randomSignature,
  explain: () => ({ ...randomSignature(), missing: [] }),
};
