import { forAppSign, type SignatureName } from '../../src/core/signing/app-signatures.js';
import { compileRecipe } from '../../src/core/signing/compile-recipe.js';
import type { RecipeJson } from '../../src/core/signing/recipe.js';
import type { SignableRequest } from '../../src/core/signing/request.js';
import { Secret } from '../../src/core/signing/secret.js';
import { contractRequest, type LaterKind, laterRequests } from '../../src/lab/later-requests.js';
import type { SignedSample } from '../../src/lab/sample.js';

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
export const read = contractRequest('read', app, { ...moment, code: 'c0de0001' });
export const readByNames = contractRequest('read', app, {
  ...moment,
  code: 'c0de0002',
  info_name: 'mobile,id_card',
  timestamp: '1700000777',
});
export const passback = contractRequest('passback', app, {
  ...moment,
  union_id: 'u001',
  user_info: '{"mobile":"13800138000"}',
});

export function signed(
  signature: SignatureName,
  rule: RecipeJson,
  request: SignableRequest,
): SignedSample {
  const seen = signature === 'sign' ? request : forAppSign(request);
  return { request: seen, signature: compileRecipe(rule).sign(seen, secret).digest, secret };
}

/** The signatures of the later requests of these kinds; by default of all. */
export function laterSignatures(
  signature: SignatureName,
  rule: RecipeJson,
  isOfKind = (_kind: LaterKind) => true,
): string[] {
  const signer = compileRecipe(rule);
  const later = laterRequests(signature, read).filter(({ kind }) => isOfKind(kind));
  return later.map(({ request }) => signer.sign(request, secret).digest);
}
