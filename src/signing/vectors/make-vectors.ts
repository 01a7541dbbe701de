import { signBoth } from '../app-signatures.js';
import { encoders } from '../encodings.js';
import type { Param, SignableRequest } from '../request.js';
import { Secret } from '../secret.js';
import { type SigningChoice, signaturesOf } from '../signing-choice.js';
import type { MadeVector } from './vector-file.js';

/** The secret of the vectors; no service accepts it. */
export const vectorSecret = 'throw-away-secret-0123456789';

/**
 * Test vectors for a team that signs in another language: requests that tell implementations apart, with each
 * stage.
 */
export function makeVectors(signing: SigningChoice): MadeVector[] {
  const secret = new Secret(vectorSecret);
  return vectorRequests.map(({ name, why, request }) => {
    const filled = fillAppSign(signing, request, secret);
    const signatures = signaturesOf(signing, filled).map((signature) => {
      const { params, message, digest } = signature.signer.sign(signature.request, secret);
      return [signature.name, { params, message, digest }];
    });
    return { name, why, request: filled, signatures: Object.fromEntries(signatures) };
  });
}

/** The request with its `app_sign`; without one where a single recipe signs. */
export function fillAppSign(
  signing: SigningChoice,
  request: SignableRequest,
  secret: Secret,
): SignableRequest {
  if (signing.kind === 'one') {
    return { ...request, params: request.params.filter(([name]) => name !== 'app_sign') };
  }
  const { digest } = signBoth(signing.signers, request, secret).app_sign;
  return {
    ...request,
    params: request.params.map(([name, value]) => [name, name === 'app_sign' ? digest : value]),
  };
}

/** A request that tells implementations apart. */
interface VectorRequest {
  readonly name: string;
  /** What it tests, in one sentence. */
  readonly why: string;
  readonly request: SignableRequest;
}

const base: readonly Param[] = [
  ['tenant_code', 'acme'],
  ['app_key', 'throw-away-key'],
  ['app_sign', ''],
  ['channel', 'web'],
  ['random', 'k3J9xQ2mVb7T'],
  ['timestamp', '1700000000'],
];

const userInfo = '{"name":"张三/李四","age":28,"note":"a \\"b\\" c"}';

/** Requests with an empty `app_sign`, which is filled in where two signatures are made. */
export const vectorRequests: readonly VectorRequest[] = [
  query('plain', 'The order of the parameters and the place of the secret.', []),
  query('empty value', 'Whether an empty value is signed or left out.', [
    ['code', 'c-1'],
    ['info_name', ''],
  ]),
  query('reserved characters', 'Whether the text is signed before or after it is percent-encoded, and how.', [
    ['note', 'a b+c&d=e/f?g~h%20i*'],
    ['quotes', `!'()"`],
  ]),
  query('non-ASCII', 'Whether text is taken as UTF-8, beyond the first plane of Unicode too.', [
    ['name', '张三'],
    ['city', 'Zürich'],
    ['mood', '😀'],
  ]),
  query('mixed case', 'Whether names are sorted by their bytes, capitals and _ in their places.', [
    ['Zeta', '1'],
    ['alpha', '2'],
    ['Beta', '3'],
    ['beta', '4'],
    ['_first', '5'],
  ]),
  query('names that begin alike', 'Whether names are sorted, or whole pairs.', [
    ['item', '1'],
    ['item_id', '2'],
    ['item1', '3'],
    ['items', '4'],
    ['item.x', '5'],
  ]),
  query('values against names', 'Whether values have a say in the order.', [
    ['aa', 'zz'],
    ['bb', '10'],
    ['cc', '9'],
    ['dd', 'Mm'],
  ]),
  query('white space', 'Whether values are signed as they are, untrimmed.', [
    ['lead', ' x'],
    ['trail', 'x '],
    ['lines', 'a\nb\tc'],
  ]),
  query('numbers', 'Whether numbers stay the text that is sent.', [
    ['amount', '1.00'],
    ['count', '007'],
    ['big', '12345678901234567890'],
    ['power', '1e3'],
  ]),
  form('form', 'Whether the fields of a form are signed with the query, JSON as it is sent.', [
    ['union_id', 'u001'],
    ['user_info', userInfo],
  ]),
];

function query(name: string, why: string, params: readonly Param[]): VectorRequest {
  const url = 'https://api.example.com/api/v1/server/user/user_info_for_third';
  return { name, why, request: { method: 'GET', url, params: [...base, ...params], body: null, extra: {} } };
}

function form(name: string, why: string, fields: readonly Param[]): VectorRequest {
  const url = 'https://api.example.com/api/v1/server/user/passback_user_info';
  const body = fields.map((pair) => pair.map(encoders.rfc3986).join('=')).join('&');
  return { name, why, request: { method: 'PUT', url, params: [...base, ...fields], body, extra: {} } };
}
