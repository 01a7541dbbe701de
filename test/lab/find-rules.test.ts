import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forAppSign } from '../../src/core/signing/app-signatures.js';
import { compileRecipe } from '../../src/core/signing/compile-recipe.js';
import type { RecipeJson } from '../../src/core/signing/recipe.js';
import type { SignableRequest } from '../../src/core/signing/request.js';
import { Secret } from '../../src/core/signing/secret.js';
import type { SignatureName } from '../../src/lab/contract.js';
import { findRules } from '../../src/lab/find-rules.js';
import { contractRequest, laterRequests } from '../../src/lab/later-requests.js';
import type { SignedSample } from '../../src/lab/sample.js';
import { randomAppSignRule, randomSignRule } from '../support/random-rule.js';

const secret = new Secret('Th1s-1s-the-0perator-Secret');
const app: SignableRequest = {
  method: 'GET',
  url: 'https://api.example.com/api/v1/server/user/user_info_for_third',
  params: [
    ['tenant_code', 'acme'],
    ['app_key', 'app-7f3'],
    ['channel', 'web'],
  ],
  body: null,
};
const moment = {
  app_sign: '9c1185a5c5e9fc54612808977ee8f548',
  random: 'k3J9xQ2mVb7T',
  timestamp: '1700000123',
};
const read = contractRequest('read', app, { ...moment, code: 'c0de0001' });
const readByNames = contractRequest('read', app, {
  ...moment,
  code: 'c0de0002',
  info_name: 'mobile,id_card',
  timestamp: '1700000777',
});
const passback = contractRequest('passback', app, {
  ...moment,
  union_id: 'u001',
  user_info: '{"mobile":"13800138000"}',
});

function signed(
  signature: SignatureName,
  rule: RecipeJson,
  request: SignableRequest,
): SignedSample {
  const seen = signature === 'sign' ? request : forAppSign(request);
  return { request: seen, signature: compileRecipe(rule).sign(seen, secret).digest, secret };
}

/** The signatures of the later requests that userinfo sends. */
function laterSignatures(signature: SignatureName, rule: RecipeJson): string[] {
  const signer = compileRecipe(rule);
  return laterRequests(signature, read)
    .filter(({ isSent }) => isSent)
    .map(({ request }) => signer.sign(request, secret).digest);
}

const few = { numRuns: 15, endOnFailure: true };

test('the groups of one read have the rule of the platform', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, async (rule) => {
      const { groups } = await findRules('sign', [signed('sign', rule, read)]);
      const later = laterSignatures('sign', rule).join();
      expect(groups.map(({ recipe }) => laterSignatures('sign', recipe).join())).toContain(later);
    }),
    few,
  );
});

/** A short sample may show no character by which base64 and base64url differ. */
const inOneAlphabet = (signatures: string[]) =>
  signatures.slice(0, 7).join().replaceAll('+', '-').replaceAll('/', '_');

test('a read and a passback leave the rule, or others that differ only in how characters are encoded', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, async (rule) => {
      const samples = [signed('sign', rule, readByNames), signed('sign', rule, passback)];
      const { groups } = await findRules('sign', samples);
      const later = laterSignatures('sign', rule);
      const plain = groups.map(({ recipe }) => inOneAlphabet(laterSignatures('sign', recipe)));
      expect(plain[0]).toBe(inOneAlphabet(later));
      expect(groups.map(({ recipe }) => laterSignatures('sign', recipe).join())).toContain(
        later.join(),
      );
    }),
    few,
  );
});

test('app_sign is found, of a few names or of all', async () => {
  await fc.assert(
    fc.asyncProperty(randomAppSignRule, async (rule) => {
      const { groups } = await findRules('app_sign', [signed('app_sign', rule, read)]);
      const later = laterSignatures('app_sign', rule).join();
      expect(groups.map(({ recipe }) => laterSignatures('app_sign', recipe).join())).toContain(
        later,
      );
    }),
    few,
  );
});
